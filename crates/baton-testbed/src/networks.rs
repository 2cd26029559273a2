//! Two networks with a cable between them, and firewalls on it.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::fd::AsFd;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::error::{ErrorContext, TestbedError};
use crate::folders;
use crate::install::{IP, IPTABLES};

/// Makes both namespaces, and removes them when the test that holds the other end of stdin is gone.
const LEASH: &str = r#"
ip=$1 left=$2 right=$3
make() {
    "$ip" netns add "$left" && "$ip" netns add "$right" &&
    "$ip" link add cable netns "$left" type veth peer name cable netns "$right" &&
    "$ip" -n "$left" address add 10.77.0.1/24 dev cable &&
    "$ip" -n "$right" address add 10.77.0.2/24 dev cable &&
    for side in "$left" "$right"; do
        "$ip" -n "$side" link set lo up && "$ip" -n "$side" link set cable up || return 1
    done
}
made=$(make 2>&1) && echo made || echo "$made" | head -1
exec >/dev/null 2>&1
read -r _
"$ip" netns delete "$left"
"$ip" netns delete "$right"
"#;

/// One of the two networks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// The network of 10.77.0.1.
    Left,
    /// The network of 10.77.0.2.
    Right,
}

/// Two network namespaces of this machine, joined by a pair of interfaces. Gone when it is dropped.
pub struct TwoNetworks {
    leash: Child,
    names: [String; 2],
}

impl TwoNetworks {
    /// Makes them. Only the superuser can.
    pub fn new() -> Result<Self, TestbedError> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let refused = |why| TestbedError::NotArrangeable { what: "two networks", why };
        if !folders::is_root() {
            return Err(refused("only the superuser can make one".to_owned()));
        }
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = |side| format!("baton-{}-{number}-{side}", std::process::id());
        let names = [name("left"), name("right")];
        let mut command = Command::new("/bin/sh");
        command.args(["-c", LEASH, "networks"]).arg(IP.find()?).args(&names).current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut leash = command.spawn().context(|| "making two networks".to_owned())?;
        let mut said = String::new();
        let stdout = leash.stdout.take().expect("it was asked for");
        let read = BufReader::new(stdout).read_line(&mut said);
        read.context(|| "making two networks".to_owned())?;
        let networks = Self { leash, names };
        match said.trim() {
            "made" => Ok(networks),
            why => Err(refused(why.to_owned())),
        }
    }

    /// Does something on a thread inside a network. Threads and sockets made there stay there.
    ///
    /// # Panics
    ///
    /// If it does, or the network cannot be entered.
    pub fn inside<T: Send>(&self, side: Network, act: impl FnOnce() -> T + Send) -> T {
        let path = format!("/run/netns/{}", self.name(side));
        let enter = move || {
            let network = File::open(&path).expect("it was made");
            let kind = Some(LinkNameSpaceType::Network);
            move_into_link_name_space(network.as_fd(), kind).expect("the superuser may");
            act()
        };
        std::thread::scope(|scope| scope.spawn(enter).join().expect("it does not panic"))
    }

    /// What a network's firewall does with packets to this port: the target of a rule, such as
    /// `["DROP"]`.
    pub fn treat(&self, side: Network, port: u16, target: &[&str]) -> Result<(), TestbedError> {
        let port = port.to_string();
        let rule = ["-A", "INPUT", "-p", "tcp", "--dport", &port, "-j"];
        self.firewall(side, &[&rule, target].concat()).map(|_| ())
    }

    /// How many packets the rules of a network's firewall have met.
    pub fn treated(&self, side: Network) -> Result<u64, TestbedError> {
        let said = self.firewall(side, &["-L", "INPUT", "-n", "-v", "-x"])?;
        let rules = said.lines().skip(2).filter_map(|line| line.split_whitespace().next());
        Ok(rules.filter_map(|packets| packets.parse::<u64>().ok()).sum())
    }

    fn firewall(&self, side: Network, arguments: &[&str]) -> Result<String, TestbedError> {
        let mut command = Command::new(IP.find()?);
        command.args(["netns", "exec", self.name(side)]).arg(IPTABLES.find()?);
        command.arg("-w").args(arguments).stdin(Stdio::null());
        let shown = format!("{command:?}").replace('"', "");
        let output = command.output().context(|| format!("starting `{shown}`"))?;
        let text = |said: &[u8]| String::from_utf8_lossy(said).trim().to_owned();
        match output.status.success() {
            true => Ok(text(&output.stdout)),
            false => Err(TestbedError::Command { command: shown, said: text(&output.stderr) }),
        }
    }

    fn name(&self, side: Network) -> &str {
        &self.names[side as usize]
    }
}

impl Drop for TwoNetworks {
    fn drop(&mut self) {
        drop(self.leash.stdin.take());
        let _ = self.leash.wait();
    }
}
