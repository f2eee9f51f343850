//! What is known of single characters and of pairs of letters, whatever the vocabulary: how common they are.
//!
//! Decides nothing: it holds what was counted once over texts in about 60 languages, and unpacks it at compile time. The cells
//! of `cells.rs` are chosen by it; what a cell costs in each vocabulary stands in `densities.rs`.

/// The characters beyond ASCII that are common: one token in both of OpenAI's vocabularies.
const SINGLE_CHARS: &str = concat!(
    "\u{80}\u{92}\u{a0}¡¢£¤¥¦§¨©ª«¬\u{ad}®¯°±²³´µ¶·¹º»¼½¾¿ÀÁÂÃÄÇÉÍÎÐÑÓÖ×ÚÜßàáâãäåæçèéêëìíîïðñòóôõöøùúûüýā",
    "ăąćčĐđēęěğīİıłńōőœřśşšţťūůűźżžơưșțəɵ\u{300}\u{301}άέήίαβγδεηθικλμνοπρςστυφχωόЂАБВГДЕЗИКЛМНОПРСТУФЦЧЭ",
    "Яабвгдежзийклмнопрстуфхцчшщъыьэюяёі\u{5d0}\u{5d1}\u{5d3}\u{5d4}\u{5d5}\u{5d7}\u{5d9}\u{5dc}\u{5de}",
    "\u{5e0}\u{5e2}\u{5e8}\u{5e9}\u{5ea}\u{60c}\u{623}\u{625}\u{627}\u{628}\u{629}\u{62a}\u{62b}\u{62c}",
    "\u{62d}\u{62e}\u{62f}\u{630}\u{631}\u{632}\u{633}\u{634}\u{635}\u{636}\u{637}\u{638}\u{639}\u{63a}",
    "\u{641}\u{642}\u{643}\u{644}\u{645}\u{646}\u{647}\u{648}\u{649}\u{64a}\u{64e}\u{64f}\u{650}\u{651}",
    "\u{652}\u{67e}\u{6a9}\u{6af}\u{6cc}\u{902}कतनपमरलसह\u{93e}\u{93f}\u{940}\u{941}\u{947}\u{94b}\u{94d}",
    "নর\u{9be}\u{9bf}\u{9c7}\u{9cd}\u{bbf}\u{bc1}\u{bcd}\u{d4d}กขคงจชณดตถทนบปผพมยรลวสหอะ\u{e31}าำ\u{e34}",
    "\u{e35}\u{e37}\u{e38}\u{e39}เแใไ\u{e47}\u{e48}\u{e49}\u{e4c}ាạảấầẩậắặếềểệỉịọỏốồổ",
    "ỗộớờởợụủứửữự\u{200b}\u{200c}\u{200e}‐‑–—―‘’‚“”„†•…‰′″›※₂€™←↑→↓",
    "−─━│═║╗╝█░■►●★☆☴♀♥♪✔\u{2800}\u{3000}、。《》「」『』【】〜あいうえおかがきくけこ",
    "ごさざしじすせそただちっつてでとどなにのはばまみめもやよらりるれろわをんアィイウェエオカキクグコサシ",
    "ジスズセタダチッテデトドナニバパビピフブプペポマムメャュョラリルレロン・ー一万三上下不与专业东两个中",
    "串为主么义之也书了事二于五些交产享京人亿今介从他付代以们件价任份企优会传但位体何余作你使例供価保信修",
    "倍值停像元先入全公共关其具内円册再写出击分列则初利别到制前力功加务动動包化北区十午华单南即历原去县参",
    "及友反发取变口只可台右号司合同名后向否含听启告员周命和品哈商問器四回因国图土在地场址型城基報場填增声",
    "处备复外多大天失头女好如始子字存学安宋完定实审客家容密对导将小少尔就局展山岁州工左已市布常平年并广序",
    "库应店度建开异式引张当录形影径待後得微心必志态思性总息您情意感成我或户所手打找技投报拉持指按换据排接",
    "推提播支收改放政效数整文料断新方族无日时明易星是時景更最月有服期木未本机权束条来板构析果查标样核格案",
    "检模次款止正此步歳段每比民気水求江汽没治法注活流海消清游源火点無然片版物特率环现球理生用由电男画界番",
    "登的监目直相省看県真知码确示社票私种科秒称移程稍税稿空立站章端笑符第等签简算管箱米类系素索约级线组经",
    "结给络统编网置美老考者而联能自至色节英藏行表装西要見见规视角解言計記話読计认议记论设证评试话询该详语",
    "误说请读调象责败账货购费资起超路身车转软载辑输达过运近还这进连述退送选通速造連道邮部都配释里重量金钟",
    "钮链销错键长開間関门闭问间队阳陆限院除雅集雷需非面音页项预频题额首验高黑가간값개거게결경고공과구그글",
    "기나내는능니다당대도동되된드든들디라래러력로록료류른를름리만메면명목문미버번보복부분비사산상색생서성",
    "세션소수스습시식신아야어에여열오와요용우운원위으은을음의이인일임입자작장재적전정제져조주지진째체출치",
    "크태터턴트튼하한할함해호화환회\u{fe0f}\u{feff}！（），－．／０１２３４５６７８９：；＞？＾～･￥",
    "\u{fffd}",
);
/// One bit per character of the basic plane: whether it is in `SINGLE_CHARS`.
pub(super) static SINGLE: [u64; 1024] = blocks(SINGLE_CHARS.as_bytes());
/// One bit per 64 characters of the basic plane: whether OpenAI's vocabularies need no more than two tokens for any of them.
#[rustfmt::skip]
pub(super) static TWO: [u64; 16] = [
    0x37ff_cff0_ffff_ffff, 0x0c00_0000_c000_0009, 0x0000_0000_73f2_0377, 0x0000_0000_0000_002f,
    0xff00_0000_0000_0000, 0xff87_e0bf_b87b_ffeb, 0x1fff_f02b_fff6_ff1b, 0x7c36_fff6_3e31_c312,
    0xe0ff_e7ce_0201_bf8f, 0x4800_024f_3ffc_108f, 0x03af_0000_0000_0000, 0x014d_86eb_c019_ac34,
    0x0245_00d1_7fe0_0c7c, 0xffff_ffff_0320_141a, 0x0000_0000_0000_0000, 0xf100_0000_0000_0004,
];
/// How readily a token ends between two Latin letters, 0 to 7 (row: first letter, column: second).
pub(super) static RARITY: [u8; 1024] = levels(concat!(
    r"777777777777777777777777777777777400051011000004050001000007777771344054510707717712417770777777716140",
    r"270260057047020177734777777157106452544771572252764257777772200101345200041100042100377777717720134077",
    r"151077040177637777777364707302772302771113777267777771777077417736517737034775777777710000003500000002",
    r"000507050777777277617774554772777273777777777772677172127347527553147472777777726700177176075117610267",
    r"207777777117207761772161177142747277777772700120225136113760022641477777740004004350000006000000224777",
    r"777174407303770270170101371077777777777777777737777567507777777777725000506172301055100224705777777271",
    r"706502723361153001637157777772712056017534711701037171577777710000114121000607000554133777777174707351",
    r"777571774557477477777771776077017765116711767362777777737272777277747707770777227777777274547775773111",
    r"072137767467777773777177737776357777537672477777",
).as_bytes());
/// The same for Cyrillic letters.
pub(super) static RARITY_CYR: [u8; 1024] = levels(concat!(
    r"754276777773777517537467377717377306777777541770576774774742774243747777777407773727736737677747222676",
    r"716177771772533324732512727774777777777777277777776777772777777777777776776777777777777727777677777776",
    r"677737777547177777776727777777777777677776775777767777777777777677777777756737777777777777777777677777",
    r"777577777777674757777777777777776753767775577677577177777777777537717570745572754777776777774777777771",
    r"775776775537757777777577776567777643567777377770717777777777777777777777774777777777777776672773776766",
    r"771107755136777772710122107021007057657477724277775777747767347647446777777772767747676477677777574777",
    r"777777777777677775776777772747667777777577773747746757717746000763710277777771000410720000715667767767",
    r"767766764755767566557777777777777677752767577777775566300743415777773052122261322101717667777777777777",
    r"777747777772757763237777776777772777755717727737777477767776070027777356176776477774777777767775572773",
    r"675777673377264777777046601777335717477517010776513477776270000201710000602777777777777777477773673777",
    r"7733",
).as_bytes());
/// How densely texts are cut around three letters in a row, 0 to 9: about 0.24 tokens a letter, and 0.04 more for each step.
/// Letters are a to z and, as the 27th, any with an accent.
pub(super) static TRIGRAMS: [u8; 27 * 27 * 27] = trigrams(include_bytes!("tables/trigrams.txt"));

/// Sets one bit per character of a UTF-8 text without four-byte characters.
#[allow(clippy::indexing_slicing, reason = "evaluated by the compiler only")]
const fn blocks(text: &[u8]) -> [u64; 1024] {
    let mut table = [0; 1024];
    let mut at = 0;
    while at < text.len() {
        let (length, first) = match text[at] {
            0xe0.. => (3, text[at] & 0x0f),
            _ => (2, text[at] & 0x1f),
        };
        let mut code = first as usize;
        let mut next = 1;
        while next < length {
            code = code << 6 | (text[at + next] & 0x3f) as usize;
            next += 1;
        }
        table[code >> 6] |= 1 << (code & 63);
        at += length;
    }
    table
}

/// Reads digits; pairs that are not listed are rare.
#[allow(clippy::indexing_slicing, reason = "evaluated by the compiler only")]
const fn levels(text: &[u8]) -> [u8; 1024] {
    let mut table = [7; 1024];
    let mut at = 0;
    while at < text.len() {
        table[at] = text[at] - b'0';
        at += 1;
    }
    table
}

/// Reads one digit for each three letters; line ends are passed over.
#[allow(clippy::indexing_slicing, reason = "evaluated by the compiler only")]
const fn trigrams(text: &[u8]) -> [u8; 27 * 27 * 27] {
    let mut table = [0; 27 * 27 * 27];
    let (mut at, mut from) = (0, 0);
    while at < table.len() {
        if text[from] != b'\n' {
            table[at] = text[from] - b'0';
            at += 1;
        }
        from += 1;
    }
    table
}
