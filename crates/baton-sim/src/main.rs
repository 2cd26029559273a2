//! The simulator's command line.
use baton_sim::campaign;
use baton_sim::trace::Trace;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    if args[1] == "--seed" {
        let o = campaign::run_seed(args[2].parse().expect("n"), Trace::kept());
        print!("{}", o.trace);
        println!("{:?}", o.violation);
        return;
    }
    let n: u64 = args[1].parse().expect("n");
    let s = campaign::run_seeds(0, n, 2, &|s| s.violations.len() > 20);
    for (seed, v) in &s.violations { println!("{seed}: {v:?}"); }
    println!("seeds {} simulated {:?} events {} terms {}", s.seeds, s.simulated, s.events, s.terms);
    for (f,c) in s.coverage.faults() { print!("{} {c}, ", f.name()); }
    println!();
    for (f,c) in s.coverage.situations() { print!("{f} {c}, "); }
    println!();
    for (c,g) in &s.gaps { let mut g=g.clone(); g.sort(); println!("{c:?} n={} p50={:?} p99={:?} max={:?}", g.len(), g[g.len()/2], g[g.len()*99/100], g.last()); }
    println!("{:?}", s.requests);
}
