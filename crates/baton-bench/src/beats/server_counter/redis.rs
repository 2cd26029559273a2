//! The scripts that clients called. What a script calls in turn is counted elsewhere.

use redis::aio::MultiplexedConnection;

use crate::error::BenchError;

/// A connection that asks.
pub struct ScriptCounter(MultiplexedConnection);

impl ScriptCounter {
    /// Connects.
    pub async fn at(url: &str) -> Result<Self, BenchError> {
        let client = redis::Client::open(url)?;
        Ok(Self(client.get_multiplexed_async_connection().await?))
    }

    /// The calls of scripts so far.
    pub async fn count(&mut self) -> Result<u64, BenchError> {
        let info: String = redis::cmd("INFO").arg("commandstats").query_async(&mut self.0).await?;
        Ok(scripts(&info))
    }
}

/// The calls of every command that runs a script.
fn scripts(info: &str) -> u64 {
    let calls = info.lines().filter_map(|line| {
        let (command, figures) = line.strip_prefix("cmdstat_")?.split_once(':')?;
        let runs_script = ["eval", "evalsha", "eval_ro", "evalsha_ro", "fcall"].contains(&command);
        let calls = figures.strip_prefix("calls=")?.split(',').next()?;
        runs_script.then(|| calls.parse::<u64>().ok())?
    });
    calls.sum()
}

#[cfg(test)]
mod tests {
    #[test]
    fn scripts_are_counted_and_what_they_call_is_not() {
        let info = "# Commandstats\r\ncmdstat_hget:calls=90,usec=1\r\n\
                    cmdstat_evalsha:calls=7,usec=2,usec_per_call=0.3\r\n\
                    cmdstat_eval:calls=1,usec=0\r\n";
        assert_eq!(super::scripts(info), 8);
    }
}
