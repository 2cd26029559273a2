//! The environment: `BATON_<NAME>`, and the older `COORDINATOR_<NAME>`, which is weaker.

use std::collections::BTreeMap;

use super::setting_values::{SettingValues, Source};
use super::table::TABLE;
use super::{ConfigError, nearest};

/// Where labels stand: `BATON_LABELS=zone=a,rack=7`.
const LABELS: &str = "BATON_LABELS";

/// Variables by name. One that is empty counts as not set.
#[derive(Clone, Debug, Default)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// The variables of this process.
    pub fn of_process() -> Self {
        let text = |os: std::ffi::OsString| os.to_string_lossy().into_owned();
        std::env::vars_os().map(|(name, value)| (text(name), text(value))).collect()
    }

    /// The value of a variable that is set to something.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Reads the values of the variables.
    pub fn read(&self, values: &mut SettingValues) -> Result<(), ConfigError> {
        for entry in TABLE {
            if let Some((name, value)) = entry.legacy.and_then(|name| Some((name, self.get(name)?)))
            {
                let source = Source::Variable(name.to_owned());
                let read = entry.kind.read_legacy(value);
                values.set(entry, read, &format!("{value:?}"), source)?;
            }
            let name = entry.variable();
            if let Some(value) = self.get(&name) {
                let source = Source::Variable(name);
                values.set(entry, entry.kind.read(value), &format!("{value:?}"), source)?;
            }
        }
        let labels = self.get(LABELS).into_iter().flat_map(|labels| labels.split(','));
        for label in labels {
            values.label(label, &Source::Variable(LABELS.to_owned()))?;
        }
        Ok(())
    }

    /// Variables that look like a setting's with a slip of the pen: what is there, what was meant.
    pub fn misspelt(&self) -> Vec<(String, String)> {
        let known: Vec<String> = TABLE.iter().map(super::table::Entry::variable).collect();
        let others = ["BATON_CONFIG", LABELS];
        let ours = self.0.keys().filter(|name| name.starts_with("BATON_"));
        ours.filter(|name| !known.contains(name) && !others.contains(&name.as_str()))
            .filter_map(|name| {
                let meant = nearest(&name[6..], known.iter().map(|known| &known[6..]))?;
                Some((name.clone(), format!("BATON_{meant}")))
            })
            .collect()
    }
}

impl FromIterator<(String, String)> for Environment {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(variables: I) -> Self {
        Self(variables.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(variables: &[(&str, &str)]) -> Environment {
        variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn the_older_names_are_read_in_milliseconds_and_are_weaker() {
        let mut values = SettingValues::default();
        let variables = [
            ("COORDINATOR_ELECTION_INTERVAL", "2500"),
            ("COORDINATOR_TAKEOVER_DELAY", "750"),
            ("BATON_TAKEOVER_DELAY", "1s"),
            ("COORDINATOR_ELIGIBLE", "false"),
            ("BATON_LEASE_TIMEOUT", ""),
            ("BATON_LABELS", "zone=a,rack=7"),
        ];
        environment(&variables).read(&mut values).expect("sound");
        assert_eq!(values.text("election_interval").expect("given").0, "2500ms");
        assert_eq!(values.text("takeover_delay").expect("given").0, "1s");
        assert_eq!(values.by_key["eligible"].value, toml::Value::Boolean(false));
        assert_eq!(values.text("lease_timeout"), None);
        assert_eq!(values.labels["rack"], "7");
    }

    #[test]
    fn a_bad_value_is_refused_with_the_variable_s_name() {
        let bad = environment(&[("BATON_LEASE_TIMEOUT", "5 parsecs")]);
        let message = bad.read(&mut SettingValues::default()).expect_err("no span").to_string();
        let expected = "BATON_LEASE_TIMEOUT=\"5 parsecs\" is not a length of time; \
                        write \"500ms\", \"5s\" or \"2m\"";
        assert_eq!(message, expected);
    }

    #[test]
    fn a_slip_of_the_pen_is_noticed_and_other_variables_are_left_alone() {
        let names = [("BATON_LEESE_TIMEOUT", "5s"), ("BATON_EPOCH", "3"), ("BATON_STORE", "x")];
        let expected = [("BATON_LEESE_TIMEOUT".to_owned(), "BATON_LEASE_TIMEOUT".to_owned())];
        assert_eq!(environment(&names).misspelt(), expected);
    }
}
