//! HEADDOC

/// What a text costs, in thousandths of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TextMeasure {
    /// The likely cost.
    pub expected_milli: u64,
    /// A cost that is hardly ever exceeded.
    pub upper_milli: u64,
    /// How many decimal digits it has: some tokenizers spend a token on each.
    pub digits: u64,
}

impl std::iter::Sum for TextMeasure {
    fn sum<I: Iterator<Item = Self>>(measures: I) -> Self {
        measures.fold(Self::default(), |sum, m| Self {
            expected_milli: sum.expected_milli + m.expected_milli,
            upper_milli: sum.upper_milli + m.upper_milli,
            digits: sum.digits + m.digits,
        })
    }
}

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
const SINGLE: [u64; 1024] = blocks(SINGLE_CHARS.as_bytes());
const TWO: [u64; 16] = [
    0x37ff_cff0_ffff_ffff,
    0x0c00_0000_c000_0009,
    0x0000_0000_73f2_0377,
    0x0000_0000_0000_002f,
    0xff00_0000_0000_0000,
    0xff87_e0bf_b87b_ffeb,
    0x1fff_f02b_fff6_ff1b,
    0x7c36_fff6_3e31_c312,
    0xe0ff_e7ce_0201_bf8f,
    0x4800_024f_3ffc_108f,
    0x03af_0000_0000_0000,
    0x014d_86eb_c019_ac34,
    0x0245_00d1_7fe0_0c7c,
    0xffff_ffff_0320_141a,
    0x0000_0000_0000_0000,
    0xf100_0000_0000_0004,
];
const RARITY: [u8; 1024] = levels(concat!(
    r"77777777777777777777777777777777730005101010000305000000000777777134405461070760771341777077777771614027",
    r"01600560470201777347777771570064614436705721426641677777712001003342000411000310004777777176200370771510",
    r"77020077627777777354707301771301771112777367777770777077307725507727026774777777710000003400000002000506",
    r"07077777727771777456677177717277777777777267707212733742645324747277777771560006717507401750015520777777",
    r"71172075717721501771317773777777717000101261252027700226404777777200020041500000070000002247777770733073",
    r"02770270170100371077777777777777777737777567507777777777715000407171200054100114606777777271605501713350",
    r"15200153715777777171205501742370170002715047777771000010413100050700044413377777717460736177757177445647",
    r"74777777717760770177671067117673727777777271725772777577077705771277777773736476747731100710277673577777",
    r"73776077727775257777427671377777777777777777777777777777777777777777777777777777777777777777777777777777",
    r"7777777777777777777777777777777777777777777777777777777777777777777777777777777777777777",
).as_bytes());
const RARITY_CYR: [u8; 1024] = levels(concat!(
    r"75427677777377751753746737771737730677777754177057677477474277424374777777740777372773673767774722267671",
    r"61777717725333247325127277747777777777772777777767777727777777777777767767777777777777277776777777766777",
    r"37777547177777776727777777777777677776775777767777777777777677777777756737777777777777777777677777777577",
    r"77777767475777777777777777675376777557767757717777777777753771757074557275477777677777477777777177577677",
    r"55377577777775777765677776435677773777707177777777777777777777777747777777777777766727727767677711077551",
    r"36777772710122107021007057657477724277775777747767347647446777777772767747676477677777574777777777777777",
    r"67777577677777274766777777757777374774675771774600076371027777777100041072000071566776776776776676475576",
    r"75665577777777777776777527675777777755663007434157777731521222613221017176677777777777777777477777727577",
    r"63237777776777772777755717727737777477767776070027777356176776477774777777767775572773675777673377264777",
    r"7770466017773357174775170107765134777762700002017100006027777777777777774777736737777733",
).as_bytes());
const FOREIGNNESS: [u8; 1024] = levels(concat!(
    r"55555555555555555555555555555555524343335475444543433454227555555441243354323453315343533235555554243301",
    r"45721033222223123475555556333433545534654342354224755555524322256777444431443632227555555421233144433103",
    r"44222242423555555633433514664335324245363645555553233242526563533333335445355555553446347577443346533646",
    r"35455555574366243744646543427554563555555744332435577447447577524655555554443404547536533332444471455555",
    r"54522443654423543242332435255555554234436674245415323442447555555343330563344432363532432375555554552345",
    r"24633155334222333075555550111323233443433233544644255555545343436473342335333354327555555554334424753334",
    r"45233353037555555531232503762243113234523275555554124444537734453333367635755555543024113551417634642664",
    r"57555555542344240235333262123541376555555241222334453444233225024445555556567455427745401233444436455555",
    r"57756545575756777264777747755555555555555555555555555555555555555555555555555555555555555555555555555555",
    r"5555555555555555555555555555555555555555555555555555555555555555555555555555555555555555",
).as_bytes());
const EXPECTED: &str = concat!(
    r"+,0,.1-44.77-71-13/75088.52-=1/D72F6,O2-P20L42H8-H5-O40N63K93J70M74O;7P=,R1,S10S23R81M0.Q31P64J91D60O85P",
    r"<7Q?,O0,S//S/2P83A60K71O63N83@91M<8P>9P=,+0,.,/,-157/./..10.23.>2A50>33:75=5+56-E4.H2/J1,<,.D4.KD/GI2H9/",
    r"J:2M=0NC+C2+K.-J/0=647,.G60L41C7<AA3J>2N<5Q:+4-+:+-A+-70/B93B:2E:2C61B61I45O95P:,,1,+9/01147/,0.-/0-/309",
    r"2:40963;95=71@21<606;3:::=10E64A67@=5I:6N;5N95N<+30,?/0L62:5=D>0=63;>6C<5E93J86O?6P<)43*7219:09:>;1/I95L",
    r"93D98@37M79N:6Q;00812:38;4=?85>36A59>6<E8B85C:7G>8G@1O;2Q=:O?@OE8I@5P?;MBBKCANE;R<?QHBRK/R42S9<S=@PD>ID9",
    r"QE;PBCODALA?QHBRKBQJ2P73S6=R<@NEHCB>NI@NE>JD;J<>OIDQIDQH1.52/491C=5B;:A55=9-G=9C<I<8BA<B:=@<3O64Q79A=>K>",
    r"5PA7K77A<>8@8K<<M8=OG>OF3?D2RA8PC;A=<=C4HH6MHCFEDL85PJ@QE=PC1@94??:<@8>>;<A2DCCI@:B<<I;;OBAOG@O@1.62.690",
    r"@==B;-=5-690>=18<B;8<=<@==@=4K07H9;IA?EGCID8N<9J;=>@>NA9NB;OB;NA-930@<6?:9>>5=H6I=4B?:E@>I;7P@;PB=PA2976",
    r"AO9CE;>B4@>5HC9JD:@C:LE5PF<PA=NA49>5:A6=C6BFA;@E8@:>A7@E8L<7IF;IA:IA5Q67S;<Q@?NE9P;;M>>Q;AL8BMC<R8@RHCRK",
    r"6R>8SE?SIBQJEN?8Q7@RFDOHDL?<R?FRKGRL>QG=S7ASC@NO6FEGNFDPJ@LJ=MADOGCQJEOE5F979B<6B><F?D?>=C==>=?E>L?;K>>H",
    r"=@F@/J31Q=<H=?C>=D>AJ4DM>;BF:L@@PC=QHAQH6F93M=<J9AJ:;D?4I7CO;@E=;L?8NA=QEAPF:G@0H>;CB=C5?DD=GAAG?BBB>L?;",
    r"N@@PCDOG5C97?=<8D>BF?<?>;B==<==8>I<;DA>@A@A@5FE;PC>Q:AP>>DC5MB6P@?O>EM;AQ;=PB=OD?FA=FD9GH=CG7D??CA;HB<DC",
    r"CMB=OE=QD@QC5F9:F=<EE:CM<D<6H><LF<DB>J?;QG?OD?QE3A<8=:;@>8E@?D:;@9=?88D5<M98L<;L=8J:6Q=:N=@A?C<G?IF=H>EC",
    r"AEGK?PD@QLDRMERK9SE=S=CSKEJPAEK@PKEOKDMM:O?DRDFRGGRI7PJ:RKAPNAEM=GD?PDHNG=IF@O=6PGHRJFQG6N?:I4@>5A><=A@;",
    r"<1@F:?F<@O=<L:@G:?J>3QG7QF>JFBEH4E?<NA@LGBMD8O<7PD?QJ?RLFOB:Q>?I;BGI@EB=LGHHBAH@@O@?QI>RECQD6N>9L<@FA;EJ",
    r"=EA8M<;H==H@@O=;QD@QDGPB6N@:I8@G=AGG=DA;L5@C.?F1@O:<G;@H:?I:4O=4O37G2<E8;E?3P88L3>I3JO=:RA;Q><Q>0NB2L@;G",
    r"=AEI5EE;L=;K=?H>KO<;QA>R?<RA2N@5L:6FA@EG=E@;O>;H@GF:@O99PC>OA=RA<F:<A=<A=;E=?PA9F;<<?=HA?C;;J<<JB<KB;R>:",
    r"S@@RBDLKHQ<BREDQEFQNBJCFRLGRMGRN8R8=S<@RFFNHIPH8QDCRGFPOFI>EPKJRLIRO7O@=SIDRHGLNDOB@OKHMHGONAGAGPDLQJKPH",
    r":O;;M>?IACHFBPB<LAAMFAMIAG>AEDCD@BD@>O=IR8CQ=CKKBPD4R=HQFAFIMJBKO@ARL@RM7O;/QH5MD>FKEPB3JBDOH<LHIG=BMFFQ",
    r"GFQH:O;9P>DLAEFCBPB:OABMFFMLAG>?MBDPEFPG:O;;P>?J@CFFBPB<P@AKEALGAE=AC=CC@BDA<P88Q@9PB<IH>PB=QD;LC<MD?H>D",
    r"OCCPF>PH?O:9PM;LM:FE<PA6NDAOD:LGAGA?NEBQGBQF:O>8P><LD9FFDPC;NCCLC8MCBG>BMC@OEAOE;MA;KF>J@?I>CRJ<P>AF>>G?",
    r";Q;:M@>L>=MACSCASBESBHQFKSFFRJFPHJPJJQGESMISNIRM?SL:SNCSJJRFNSIARIJQMLRMCQDLRNKSMLSO4QL8RAHQFIMMLRLBQFJO",
    r"LMRMDQBCQILQHKQJ@RE>LFDJEGK@GRGAMBF=CIQGEQB@M<DG9EJ@NRJORNKNDFKIJRKKPKMJJHRKIQIJQNGRMGRJCMD?;HC:@H;LHRI<",
    r"BLEHHJSFIQGGMPIOOKRM@RF=QJ;NB;KDGRE=PKFLK>QEGQIAMNFOLKQI@RE>OEDNBGKDGRGAHHFFDIPGEOC@MBDH?EF@8R92Q<CNGJMF",
    r"AR=7QGHNFLRDKQ>?QE@QGAQD6RD?QCHN@LKHFREGNAFLDKPHMQDDPGCQBFRD@RE>QE@NBEKFFRH>PGDKEGRDDQDCPFCRFCPDAN@<I<;K",
    r"8?J>JRG>JBAM?BI?<E::K?>L@<LB=R;DSFERNFPLNRIDQNNROGPQLK?KRJJRNJRODR@HSAFRDLOPRRDIQNLRJMNMGK:JQIMRMKRKHR@I",
    r"R>JRGELOQRHEPIKPIIMM>L=COGMQKJQJ@R?CQ=DOAFKGLRE@NDGPDFKG?J=AIBDGFDHCAR:KR3KM4HK@BR>>I:IPBKMD?K:DQ>FRIISJ",
    r"=RA:Q=@OAHKIORE;PICOG@LHEJ=AOEFREGRF@R@EQ<>OAIKGDRGAOCGPFEKE?J=@OBEPFHPH@R?CN=DOAFKGLRE@PJGGDFJJ?J<ALDDF",
    r"@DG@;RD@S8@R@@Q<?RE@PACRECIA:JDBOBBQFBPG;R?=Q:@O>KKK@RD:NJEMECKM<K<APHCQHDQC@R?BQ=DOA@KEIRDBNGDOFALF>J=C",
    r"MCEPGDQEJNDJPDHOEGNFQNJIPCGQCGNGAOBCNFFOEEPGGSLKSDLSGLRKLRIPSMPRMORQMRHNSPMSPMSQJSFLSMKSPNRRQQGOSAORNPRO",
    r"PQIORONRNOSNLSONSNMSOMPNNQNOSOOQNOROKQIJQOOROOSPIRGKRFKQGLOHOPKMRILRKLOKKPGGLEIMGIMHPRIMSPNROMQHPOONQLQR",
    r"LOQPNQHJROKSPLROLRIMSJMQHIOHOQKKRHMQJMPNHPGKRMNQOLRMIRGNRGHQDJOGPQKKQJMRHMPKKPGGQHORMNPLIRGKSDKQHLOHOQKM",
    r"QBLMILNGKLIGLIIMGIMGISMMR?LR?KQLPQNMSLJSJKMJQRKFRMGRLGRKORGOSMJR@JOMJQNLSMJPJKPLLQJFRLIRKIRLIRJKRDLQFCOH",
    r"IQLGSKJRJIPLHQHFQMJRLJRK5572016585182//-.-0/10-.2//.--.,--++314::=788758544744027046544112002/02=78@@BAA",
    r"=649=:9589<>@7?:=:9744058:4865:FCD@AC?;:=<<?;:B>A=;5=<<@<?>9;889>8:BCGBDCD?D@?=@>C?ADGED@?=@>@8:9B84@:;D",
    r"CFEHIH@;C@=>AB@@>@>AC@=A=;<:;=9<C=?HHHHJJGJIGFBLHKCEGEEDGFBCB@KFDE:=JGKKLMNOPKNOKLMMKNNONMOMKLMKMNKLLKMK",
    r"@<)?@@E5BC@@@@@=5A96FH@E@(/),5@@@@@)/+.47,,>>()))/3++>>7*+*1)S+FG7:+>>71+>>,:/>>(4*-/1*213H++>>(=))-((*-",
    r"1()+-0)++-41++*5,++.9(+)).*:+0955*-9/++/9:S+FG0A+>>CL3FFF,*1:(++*0,B+FF)S+FG)0+>>4S)LG<)-.3@@@@@@@@@@@RR",
    r"R@@@@@@@@@@@TQQQ;=@@DBE=@:?>:;>?J>CCJFRQSMRQMS2F]WQQS?EQP@D>PIGEKSRQOJKKTTUVZWXQDDFADQTQeeQQg^QQ;EDAeeee",
    r"BECGS(QQSSSSQSSSSSSRSSSSSSSSSSSSSSSSSSSSSSSSSQBSJQQQSSSSQSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSQMSUQSSQSSSQSSS",
    r"SSSSSSSSSSSSSSSSSSSSSSSSSSSSSQSRQQ((SQF*R+))*())(-)*+))))-))+,*)*+,)))))+Q,)6Q;ES<Q6QSSSSSSSSRSSRSSSSSSS",
    r"RSSSRQSSSSSRSQSSRQSSSSSQQSSSSSSSSSSSSSSBSSSSSSSSSSSSSSSSSQSSYQQQQRQQQQRQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQ",
    r"QQSSSSS-QQBRSSSG3AMS=3JFFSP.SJSMHESRSSSSSQQQQQSSSSS+ROQ67,EKG-B;)85;,2>O+LHE80DEBJKDEQRSQQJSSSR2Q5NQE?SJ",
    r"RSS<JRLR>SSSSSS,SSSDS@SSSQQQQQBSSSR>QSNNQSSP:SSSLS?=NSSSSSSSGSS9S0SSSQQQQQPQSSS2QKD@SQSCB?SP09<SS8S=SSGR",
    r"KSDSSSSSSQQQQQRQSSSBQGS6PSQB?KSSESSSRSSMSSS;SSSJSSSSSQQQQQIRSSS-QQ?4C4?QD.G@*:7?//;?8GGB51@MR:QFAQ>JQQFI",
    r"SSS-Q/*8-.,+Q)/AN,>6EK?ALB6.FS4-4-4SCQSSSQKSSSS)QDGKA>AD>QNB)5.8,)EDDJS8D4GFC3HASQRQQQRSSSS4QCHSISIPA:QS",
    r">A;2EAS<AQBKFSSMSSSQSQRSQQJRSSS.QS<KBSS;HKSQBGN?>NN1SSSIB;SSSSSSSQQSQQFISSS)QJ-A<4C4IJOCQ4?LHSHSSSGN@RLF",
    r"S9SSSQQSRQEFSSS3QSERBOOHBIMS:QBFSSSB-SSO:SSLSELSSQRDRQ86SSS(QK8/=:KFK<2H:;Q5GH7RSLH>BOD0LIESKQRKRQDCSSS-",
    r"QPJ@9/K?CJ?ACI;QFSCI5?DLJMF>SASSBQSSQQQSSSS*QS2GA3A@@H??L;K-QR78S7H9=EJ>A0SSSQRSRQNSSSS)QS?SDH4<LESFNFLE",
    r"SQ6SSQSS;RSSSSSKSQRRQQQHSSS@Q<SID@55?SSSSBS*ISQ1A8SDRSR?SESSSQSSQQEMSSS7QA-B72>,;SHSSGDCFS5Q.E>1-SSC@-SN",
    r"MQQSSQQQSSS*QS@JCL083>KS2=H>=?*6QKH@@BSSDH5KSQRSQQOSSSS+Q;@BDSSHE:SS2J6L5<FR8QS?HSSLSS>RSQQQQQQSSSS?QSFS",
    r"HSSSMSSSSSSSESSSSSQEDSSRSQSSSQQRQQQQSSS4QS0K:.P0HSKOH@M@4SSSSRGQQ-BL4ISSSQSSRQMRSSR;QS6SLSSDKSSSIMI;NSJS",
    r"SSSPQSSSSSSSSQQQQQSSSSS*QHHSSBLE>5@9*DH>0884G6S.CQ=JS@BESQRSQQSSSSSMQSSSSSSSJKSSSJISSSSHSSS7<SQSSCSSSQQQ",
    r"QQ76SSS.QSHEC7SG5AIS6E@M;C5JSSSFHIGQS?=SSQSSQQSSSSR4QSFSJ@SHOCSS-S8=JHNSSSSLPHSMQQSRSQQRQQSSSSS)QQ8S9DS>",
    r"PSQSSGQNHSRSSRDO:SSRSQF8SQQRQQSSSSS,QSNSSSSCCRSSOKOSSSSHSSSSISSSSRQSSQRSQQRSSSS)QH8S>D@>J8SH+B@6H/:=CGBE",
    r"7IS;5R@QSQQRQQSSSSSLQSSSSSSSSSSSJISGSSSHSSSSSSSSSSSSQQQQQQHSSSSPQSSSSSSSSRSSORQSRRRSSSSQSSSSSSSSSQK?YQ:O",
    r"SSSSQSSQQRRRRSRQSSSSSSRSSSQRRSQSQQRQRQ;QRQSRSSSSQSSRQSRSSSSSSSSSSSQSSSRSRSRSQQRRQQQQQQESQSSSQRSQQQQQRSQQ",
    r"SSSRSRQQSQQRQSQSQQQQQQRQWQSSSSSSQQSSQSRSSRSRRSRSRQSRRRRSRRQSSQSSRQSSRQ",
);
const UPPER: &str = concat!(
    r",-2,/3/652<8-73/251874>8.94.A21H84I8,O2-P21L44I8-K5.O41N74M;4M90O74P<8Q>,R1-S12S35R91M1.Q32P65J:3I82P97Q",
    r"=9RA,P0,S/2S04P:4E81M92O85N=7K@5NA9RB;Q?0,51/.6-09:>4033026/5:0C8H;5B59C7;E5,87-G4.I20L2.@,.J4.LD1JJ2M?/",
    r"M<3O>3OC+F3+M/.L/1D75;/0M70O62H:>FC5M@3P>6R<,8/+>+.F,/@40D:5G=4J<4I96H;9N76Q;7R>0.61-<6269;>4-43-96.2:1>",
    r"8@85A;9D9;D83C32F63G<6K<<A53F68E6;D>:M;8O>6O97O<,81.B04N75B:?F?1@67>>9G?7K?6M:8P?7Q=*87,<25?:7BF@?40K;7N",
    r"97I?=F7;P8:O<8R=12814;5;=7A@88A38B6;@9AF8E>5E<9J?;JA2O;3Q==O?DPF8L@5P?<OBFMHBPI<R=ARJCRL0R53S9?S=DQECLH:",
    r"RJ=QHFPHCOEARIDRLERL2P84S6AR<DPILGE@PKDPFCNI@NC@RKIRLHRK679807B3FF;HA<G;7A@3KE?IANE>JECI=DH?3P94R:;DADO>",
    r"7QD7N9=E?F>C9OD>P9@QGBQG4CE2RB9QH>IB@CF4LI<PJELGLO?8QLBRICQG2D?5DB<CB;G@AEF5IGHME=IBANDBREFRJCRC6/;8/9B6",
    r"AFCHA/B;0=@2AE7;AFC>DBCF@DE>6L27H;<IBBHHEKF<N<;K<ACA?PG;PE=PD=PB.>42E<:F:<G@9CJ8L=7F@<KA>MB:QE=QC?QC4><7",
    r"FP<IG=GF9E@7MG;ME@HG>OI8RHAQC@QD5<>7=A;@D<FIH=CF:B=?C=DH;O>9MG?NC=NC5Q67S;?Q@EQE=Q;<O>@R<GO9HRC>S:CSIGSL",
    r"7R?8SECSIHRKFPB8R8CRGHQLGQF@SAHSMJSN>RI=S:FSEDNQDJIGOHJQLEPMDQFGRHGSMJSJ;K>=<FE:FHCKGIDCDGD@DGGIEQDBRBFO",
    r"AGPC/N:2R@?L=DK>BIBBM7IP@API>QEERJDRKCRK9K@9P@FN<EO>?ID6M<JQ@GKBCQD>RFBRJHRJ>LD7LBHJFBK8GIHBKEFLCFKGEQDB",
    r"REFRJJSL;H>=C@E=HHJKG?DC<EDA?GB<EPABNEFKDGKE8NG=QDAR=FR@@IF7OC:RBDRAFQ@DS>?RDAQG?KEBKGCLOCKL<ICAKCCMF?OE",
    r"HQFBQFARGBRG;K=>KEAKI@KOCI@;LB?PKAJFEQDDRJBQHCRJ4B<:A;>C@>JBAN=<B9?D:?M6<S;9P>;P>9P<7R>:N=DC?G@HBPH?J?HG",
    r"BHNMJSFJRLFSMGSM:SG>S>FSLIPQCNLBRMGQKHRNCSCJSDLSGKSJ8RL;SLDQPENQBOHCRFMQIEQIFSB?SGKSJJSL<QD@L7HB9JE@BID@",
    r"?4GL>HO@FSBDO;FM=EQB5RJ:RFDNHJNL8NC>PDCPIKRGMSA<SF@RJCSMFQF;RFFN?GOLENG?OKJNFJQEFSBDSLCSFFSF<QC>NAAKG@NN",
    r"BNE>P?BNA?QFFSBBSGGSIISH<QE@N<HLBJOLBME@O;GI0HQ3FS?DR>FP=EQ<5QA4Q5:L3?N;?N@4R8=P4BR4JS@>SB;SA<RA4QG4ND@L",
    r"LENM8NI=OL=OF@QAMS@<RD@SA<SE6QE>N>?KGENKBNH@RC<OFHQ>FS=ASE@RD?SD=J:=F=CH>CP?ARB:M=>E?BOE?P@;QA@QF>PE>R?=",
    r"SAGRBJSKLQ?FRJGQFJSODQGGSNKSOJSO9S:>S<FSFISMJRK:RGFRIISPGQFGROLSNLSQ9PB?SIISKLSPKRGDRNKPLMSPEQHJSJNSNNSM",
    r"AR@ARCJOFLSLHRGBOHGPJJRNEQFFOKIOEHOHBR@KS;IR@LSLHRH8SBMRGJSKNQGKRHESOFSN:R@/SL=QICROERG;RIIQKARMJQGESLIS",
    r"LJSL=R@:RCFQFHRNHRG@RHEQLIRPEQFFSJKSLLSLAR@ARCJQELRLHRGBRFGQIJRLENEFNHIODHOG?R;8SD<RHBSO?RE>RH<PIIQIBPDE",
    r"RGCRI@RJER?9RO;QO@RIDRE:QICRG<RJCQH@SICSIESHARC>RCFQI;RLHRG?RIGPG=RIFQFFRICSJDSK<NA;LFCM@CM@DSL<QAAI?BOA",
    r";Q?:MC?PA?QCDSCASBISBNRGKSJGRJGRHNQKJQLFSNJSNJSN@SM:SNESKMRGOSLDSLMRMOSMHQJLSOMSNOSP5QN9SLJRKOQONSNCSIMS",
    r"OPSOHQHFSLMSMNSMERICMHKNHOPEKSKFSELCGOSJIQHDR@JO?JPEORLOSNLRFJPKMSNLRMPRLMSNMQMMSPISNHRLFOGBSJDSDIROJSM?",
    r"SNHSJJSKLQLJRQJSPLSOERJ@QL?RF>PIKSJBSMJRNASJJQMESQJRNNSMERICPGKRFOPIKSKFLLLNHOSJIPHDRFJPBJOA@R;4R=EQHLQI",
    r"BS@:SHJSGNSDKQDARGBRHCRD8RGAREMRDOPKJSIJREKRIOSHMQJERKERFGSHERICQGFRFJPJJSLESKGRIMSIHQJFSJESHGRFCSA>Q<BP",
    r"8DQBLSJ@RCDN@FRH<S=;SBARE?RG>S<ESFKRNLSMOSLFQOQRPLSRLSIKSLKSPLSQESBISDNSGPSQSSIMRNPSMQSQJSELSNOSNMSNKSEO",
    r"SAOSIKQQRSLKRMOSMQSPESEGSLPSOOSNETDISBNSCOSLPSKGRHORHPSNGSEFSGJRJJSGES<MS4QQ6RSDFSBAN<NSERSGBSBHSBISKKSN",
    r"ATF=SBLSCKSMQSKCSLMSKMSOJSECSJJSKLSKETEMS@PSCQSLISLGSGNSJLSLGSEESHKSLNSNETDIQBNSCOSLPSKGSLOJIPROGSDFSHJQ",
    r"FJRF;SFDS8FSAFSAKSHDSAFSEISCHSIDSEDSHDSJ?TD@S?IS@PSODSI@RMMRJMSPCSDESLESJFSGETDHSBPSCKSMNSIFSKGSINSLESEE",
    r"SIHSKGSIJQEJQDIPFKPFQRJIQDIQDJRIDSCDRIIRHGRJHSNLSEPSGQSLLSMQSNRSNRSQMSLOSQNSQOSRJSHMSOOSPQSRSSIOSBQSPQSP",
    r"RSLOSPPSPPSPNSQPSPPSQQSOQSPQSPQSPQSPNSLMSQQSQQSQMSLOSJQSLRSMRSNPSMPSORSONSKMRLNQKNRLRSLOSRQSPQSKQSPOSPRS",
    r"NQSQNSLKSQMSPMSPNSMOSMOSLOSKRSNMSMOSNRSPJSKMSPOSQOSPMSLQSKOSLLSLRSNOSNPSNOSONSKMSNQSPQSOMSLOSGQSNRSMRSNP",
    r"SEPRLRSPNSLMSLNRJNRJKSOMS@OR@PSPPSOMSMLSLPSKQSLISNISMISLPSJOSOLSDOSOMSOLSOKSMNSOMSLJSLKSMKSMMSLOSIQSKQSM",
    r"LSMLSMKRMOSNKSLLSOLSNLSM@=C524658548<7771/1/16..<7710.4//2.-C?CBBFCDID@GEBB=9:78:?:7EBB99::99@8;F@CJFJJG",
    r"LB?HJGHAAHBCGJINJGH@??M=AG@ADBFLMOJLNLLPKLMGFHMKPHIGKLMJEHEFKCCELJMLMOMNNQOPOPQJKMLNPRPOOPQLKMMMNOQORPQO",
    r"NQOQRQRRRRSMNRRRSRQSRRSSQRRQRQPRRRSRRRPQSJQSRSSRQSSRSSSSRSSQRSSSTRTVSSSSSSSSSSSSSSSSTSSSSSTSSSSSSSTSSSSS",
    r"WC)CDWG7CCWWWWW=5A96GHAEW(/)/5WWWWW///29730HG))*+/7//??8,/,1*S/HG9M/HG740?>,;2@>)5,.01+:23J./>>(>*).*),0",
    r"2()//0):..93//+5-//09),+)/+<009==.@?5//@?;S.HG1A.@?CQ7HGG.,??)./12,C0HG*S.HG*4/@?4S*LG>*003WWWWWWWWWWWST",
    r"SWWWWWWWWWWWVSSSETSSMXVTCMONKWVUSQQQJNSS\QXSQS5Ha]SSSPPSRHNNSQPP^d^SROONdeedeeeSJLLJXdeSeeSSeeSS[eeeeeee",
    r"OSHIS(SSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSMTcSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSQSeSSSSSSSSSSS",
    r"SSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSS)(SSF*S+))+(*))-*+,)))*.))+-+)*,-*)))),S3-MS;ES=S:SSSSSSSSSSSSSSSSSSSS",
    r"SSSSSSSSSSSSSSSS`SSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSTeSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSS",
    r"SSSSSSS-SSCSSSSI3FPSA:MHJSP/SLSMJGSSSSSSSSSSSSSSSSS,SQS89,GLG.C<)97<-3?O+NIF92DFDJMDGSSTSSJSSSS2S6OSGASJ",
    r"SSS?LSNRASSSSSS,SSSFSDSSSSSSSSBSSSS@SSNPSSSQ;SSSPSADPSSSSSSSKSS=S2SSSSSSSSPQSSS7SOHASSSGC@SR2BDSS=S?SSLS",
    r"MSJSSSSSSSSSSSRRSSSDSIS=RSSB@NSSHSSSSSSOSSS=SSSLSSSSSSSSSSLRSSS-SRA6C4BSE.HB*;9?/0<@8IJC52@NS=QHCSCYSSFJ",
    r"SSS.S0+9/.,+S*0CS-AJGMACOB;.HS8.7/5SFSSSbSKSSSS)SLGMAACF?SNC*7.:,)FDEJS:G4HJD3IBSSSSSSRSSSS4SNJSLSIPA:SS",
    r"@B;2EAS?DSFMISSNSSSSSSSSSSJRSSS.SS>NESS>ILSSCHOAAPP3SSSLE<SSSSSSSSSSSSGISSS)SL-C>5D4KJPISQCQKSHSSSJNASSI",
    r"S>SSSSSSZSFGSSS3SSFSGOPHELMS=SCISSSD.SSO<SSMSFSSSSSS^S87SSS)SP80@;NFN>3I;?S6IL9RSOKCEPK0LLKSSSSS]SDCSSS-",
    r"SPK@;/O@EN?BDI<SISDI6BFNKQFASCSSESSSSSQSSSS,SS3IE3D@CK@BN<O-SS8:S?I:?FJAC2SSSSSTZSOSSSS)SSBSGJ8<OJSSPIOF",
    r"SS8SSSSS?SSSSSSMSSSSSSQHSSSBS<SSH@76@SSSSBS*LSS3E=SFSSSASISSSSSSSSEMSSS8SB.E:2B-=SKSSIGEJS5S.HB2-SSFC/SP",
    r"MSSSbSQQSSS+SSAMFM293?LS2?HB>@+7SMKACBSSFI7MSSSSSSQSSSS+SJBSHSSIG=SS7O9S8=HR;SSKKSSSSSSRSSSSSSQSSSSBSSHS",
    r"KSSSPSSSSSSSSSSSSSSHHSSSSRSSSSSSSSQQSSS4SS1K</Q1HSKPI@NF5SSSSSGSQ/CM5KSSSSSTaSMRSSS;SS8SNSSDMSSSSOK<QSJS",
    r"SSSRSSSSSSSSSSSSSSSSSSS*SSHSSFNG>5A9+GHA08;4H7S/FSCSSCDFSSSSSSSSSSSQSSSSSSSSJSSSSOJSSSSKSSS<ASSSSLSSSSSS",
    r"SS76SSS.SSKGG9SG6BJS7HBO>F7MSSSIMJKSSCASSSSSSSSSSSS4SSHSLASIOESS-S8?KKPSSSSNPISOSRSRSSSSSSSSSSS*SS9S=GS>",
    r"QSQSSIRQJSSSSSJQ=SSRSSG9SSSSSSSSSSS.SSOSSSSSESSSPKOSSSSHSSSSKSSSSSSSSSSSSSSSSSS)SS:SCHC@L9SS+D@9J0@HGKEH",
    r"8JS@7RDSSSSSSSSSSSSNSSSSSSSSSSSSLLSHSSSJSSSSSSSSSSSSSSSSSSHSSSSQSSSSSSSSSSSSOSRSSRRSSSSRSSSSSSSSSSMS^SEP",
    r"SSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSGSdSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSS",
    r"SSSSSSSSSSSSSSSSSSSSSSSSeSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSaS",
);
const COST: [[u16; 2]; CELLS] = costs(EXPECTED.as_bytes(), UPPER.as_bytes());

/// Kinds of neighbouring characters: lower, upper, digit, space, tab, newline, control, 32 punctuation marks,
/// then the four below.
const KINDS: usize = 44;
const FOREIGN: usize = 39;
const ACCENTED: usize = 40;
const CYRILLIC: usize = 41;
const ACCENTED_RARE: usize = 42;
const START: usize = 43;
const NEUTRAL: usize = 880;
const LOW: usize = 780;
const MIDDLE: usize = 880;
const HIGH: usize = 980;
/// Where each group of cells starts.
const LETTERS: usize = 0;
const CYR: usize = LETTERS + 3456;
const RUNS: usize = CYR + 288;
const SCRIPTS: usize = RUNS + KINDS * 5;
const DIGITS: usize = SCRIPTS + 24 * 4;
const PAIRS: usize = DIGITS + 2;
pub(super) const CELLS: usize = PAIRS + KINDS * KINDS;

const fn ascii_kind(byte: u8) -> u8 {
    match byte {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        b' ' => 3,
        b'\t' => 4,
        b'\n' | b'\r' => 5,
        0..=31 | 127.. => 6,
        33..=47 => byte - 33 + 7,
        58..=64 => byte - 58 + 22,
        91..=96 => byte - 91 + 29,
        _ => byte - 123 + 35,
    }
}

const KIND_OF: [u8; 128] = {
    let mut kinds = [0; 128];
    let mut at = 0;
    while at < 128 {
        kinds[at] = ascii_kind(at as u8);
        at += 1;
    }
    kinds
};

/// The most tokens one character takes on its own.
fn alone(ch: char) -> u32 {
    let code = ch as u32;
    let (block, bit) = ((code >> 6) as usize, code & 63);
    if SINGLE.get(block).is_some_and(|bits| bits >> bit & 1 == 1) {
        return 1;
    }
    match code {
        0..=0x7ff => 2,
        0x800..=0xffff => {
            let two = TWO.get(block >> 6).is_some_and(|bits| bits >> (block & 63) & 1 == 1);
            if two { 2 } else { 3 }
        }
        0x1d000..=0x1dfff | 0x1f000..=0x1ffff => 3,
        _ => 4,
    }
}

/// The script group of a character that is neither ASCII nor Latin nor Cyrillic.
fn script(code: u32, alone: u32) -> usize {
    match code {
        0x300..=0x36f => 0,
        0x370..=0x3ff | 0x1f00..=0x1fff => 1,
        0x590..=0x5ff => 2,
        0x600..=0x6ff => 3,
        0x900..=0x97f => 4,
        0xe00..=0xe7f => 5,
        0x2000..=0x200a | 0x2010..=0x206f => 6,
        0x200b..=0x200f | 0xfe00..=0xfe0f => 7,
        0x2500..=0x257f => 8,
        0x2070..=0x2bff => {
            if alone == 1 {
                23
            } else {
                9
            }
        }
        0x3000..=0x303f | 0xff00..=0xffef => 10,
        0x3040..=0x309f => 11,
        0x30a0..=0x30ff => {
            if alone == 1 {
                12
            } else {
                13
            }
        }
        0x4e00..=0x9fff => match alone {
            1 => 14,
            2 => 15,
            _ => 16,
        },
        0xac00..=0xd7a3 => {
            if alone == 1 {
                17
            } else {
                18
            }
        }
        0x1f1e6..=0x1f1ff => 19,
        0x1f000..=0x1ffff => 20,
        0x80..=0xffff => match alone {
            1 => 23,
            2 => 21,
            _ => 22,
        },
        _ => 22,
    }
}

struct Walker {
    kind: usize,
    last: char,
    letter: usize,
    rarity: usize,
    pos: usize,
    strange: usize,
    foreign: usize,
    run: usize,
    digits: usize,
    script: usize,
}

impl Walker {
    fn new() -> Self {
        Self {
            kind: START,
            last: '\0',
            letter: 0,
            rarity: 0,
            pos: 0,
            strange: 0,
            foreign: NEUTRAL,
            run: 0,
            digits: 0,
            script: 99,
        }
    }

    /// The cell of the next character, and its hard bound (0: none).
    #[inline(always)]
    fn step(&mut self, ch: char) -> (usize, u32) {
        self.run = if ch == self.last { self.run + 1 } else { 0 };
        self.last = ch;
        let code = ch as u32;
        if let Some(&kind) = KIND_OF.get(code as usize) {
            self.ascii(code as usize, kind as usize)
        } else {
            self.wide(ch)
        }
    }

    #[inline(always)]
    fn ascii(&mut self, code: usize, kind: usize) -> (usize, u32) {
        let before = self.kind;
        self.kind = kind;
        if kind < 2 {
            let letter = code & 31;
            let from = self.letter;
            self.letter = letter;
            if before < 2 {
                let rarity = usize::from(RARITY.get(from * 32 + letter).copied().unwrap_or(7));
                let case = if before != kind { 1 } else { kind * 2 };
                let foreign = self.foreign;
                let level = usize::from(FOREIGNNESS.get(from * 32 + letter).copied().unwrap_or(7));
                self.foreign = foreign - foreign / 32 + level * 8;
                let foreign = match foreign {
                    0..LOW => 0,
                    LOW..MIDDLE => 1,
                    MIDDLE..HIGH => 2,
                    _ => 3,
                };
                let cell =
                    LETTERS + (self.letters(rarity, before == 0 && kind == 1) * 4 + foreign) * 3 + case;
                return if self.run >= 2 { (self.run_cell(kind), 0) } else { (cell, 0) };
            }
            self.pos = 0;
            self.rarity = 0;
        } else if kind == 2 {
            if before == 2 {
                self.digits = if self.digits == 2 { 0 } else { self.digits + 1 };
                return (DIGITS + usize::from(self.digits != 0), 0);
            }
            self.digits = 0;
            if before < 2 {
                self.strange += 48;
            }
        } else if self.run > 0 {
            return (self.run_cell(kind), 0);
        }
        (PAIRS + before * KINDS + kind, 0)
    }

    /// Moves on inside a word; what is returned counts rarity, rarity before, position and strangeness.
    #[inline(always)]
    fn letters(&mut self, rarity: usize, camel: bool) -> usize {
        let strange = match self.strange {
            0..50 => 0,
            50..110 => 1,
            _ => 2,
        };
        self.strange = self.strange - self.strange / 8 + rarity * 4 + if camel { 16 } else { 0 };
        let pos = match self.pos {
            0 => 0,
            1..=2 => 1,
            3..=5 => 2,
            _ => 3,
        };
        self.pos = if camel { 0 } else { self.pos + 1 };
        let previous = match self.rarity {
            0..=1 => 0,
            2..=3 => 1,
            _ => 2,
        };
        self.rarity = rarity;
        ((rarity * 3 + previous) * 4 + pos) * 3 + strange
    }

    fn run_cell(&self, kind: usize) -> usize {
        let length = match self.run {
            0..=1 => 0,
            2 => 1,
            3 => 2,
            4..=7 => 3,
            _ => 4,
        };
        RUNS + kind * 5 + length
    }

    #[inline(never)]
    fn wide(&mut self, ch: char) -> (usize, u32) {
        let code = ch as u32;
        let before = self.kind;
        let alone = alone(ch);
        if matches!(code, 0xc0..=0x24f | 0x1e00..=0x1eff) {
            self.kind = if alone == 1 { ACCENTED } else { ACCENTED_RARE };
            if alone == 1 && self.run >= 2 {
                return (self.run_cell(self.kind), 0);
            }
            return (PAIRS + before * KINDS + self.kind, if alone == 1 { 0 } else { alone });
        }
        if matches!(code, 0x400..=0x45f) {
            let letter = (code & 31) as usize;
            let from = self.letter;
            self.letter = letter;
            self.kind = CYRILLIC;
            if before == CYRILLIC {
                let rarity = usize::from(RARITY_CYR.get(from * 32 + letter).copied().unwrap_or(7));
                let cell = CYR + self.letters(rarity, false);
                let cell = if self.run >= 2 { self.run_cell(CYRILLIC) } else { cell };
                return (cell, if alone == 1 { 0 } else { alone });
            }
            self.pos = 0;
            self.rarity = 0;
            return (PAIRS + before * KINDS + CYRILLIC, if alone == 1 { 0 } else { alone });
        }
        let script = script(code, alone);
        if before != FOREIGN || script != self.script {
            self.pos = 0;
        } else {
            self.pos += 1;
        }
        self.kind = FOREIGN;
        self.script = script;
        let pos = match self.pos {
            0 => 0,
            1 => 1,
            2..=3 => 2,
            _ => 3,
        };
        (SCRIPTS + script.min(23) * 4 + pos, alone)
    }
}

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

const fn levels(text: &[u8]) -> [u8; 1024] {
    let mut table = [7; 1024];
    let mut at = 0;
    while at < 1024 {
        table[at] = text[at] - b'0';
        at += 1;
    }
    table
}

const fn costs(expected: &[u8], upper: &[u8]) -> [[u16; 2]; CELLS] {
    let mut table = [[0; 2]; CELLS];
    let mut at = 0;
    while at < CELLS {
        table[at] = [cost(expected[at]), cost(upper[at])];
        at += 1;
    }
    table
}

const fn cost(level: u8) -> u16 {
    let level = (level - b'(') as u32;
    (level * level * 1000 / 1849) as u16
}

pub fn measure(text: &str) -> TextMeasure {
    let mut walker = Walker::new();
    let (mut expected, mut likely, mut hard) = (0_u64, 0_u64, 0_u64);
    for ch in text.chars() {
        let (cell, bound) = walker.step(ch);
        let [mean, high] = COST.get(cell).copied().unwrap_or([1000, 1000]);
        expected += u64::from(mean);
        if bound == 0 {
            likely += u64::from(high);
        } else {
            hard += u64::from(bound) * 1000;
        }
    }
    let bytes = text.len() as u64 * 1000;
    let slack = likely * MARGIN_PERCENT / 100 + (likely * 1000).isqrt() * SPREAD_PERCENT / 100 + 500;
    let upper_milli = (hard + likely + slack).min(bytes);
    let digits = text.bytes().filter(u8::is_ascii_digit).count() as u64;
    TextMeasure { expected_milli: expected.min(upper_milli), upper_milli, digits }
}
const MARGIN_PERCENT: u64 = 14;
const SPREAD_PERCENT: u64 = 200;
#[doc(hidden)]
pub fn cells(text: &str, mut f: impl FnMut(usize, u32)) {
    let mut w = Walker::new();
    for ch in text.chars() {
        let (c, b) = w.step(ch);
        f(c, b);
    }
}
#[doc(hidden)]
pub const NCELLS: usize = CELLS;
