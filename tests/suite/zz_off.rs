use oneclaw_tests::families::{Group, PUBLISHED, Quality, classes, kept_counts};
#[test]
fn offs() {
    let classes = classes();
    let mut table: std::collections::BTreeMap<(Group, String), Vec<f64>> = Default::default();
    for v in PUBLISHED {
        let q = Quality::of(&classes, &kept_counts(&v), v.family);
        for (c, g, off) in q.off {
            table.entry((g, c)).or_default().push(off);
        }
    }
    println!("{:28} {}", "", PUBLISHED.map(|p| format!("{:>8}", p.name)).join(""));
    for ((g, c), offs) in table {
        println!("{:?} {:22} {}", g, c, offs.iter().map(|o| format!("{:>+8.2}", o)).collect::<String>());
    }
}
