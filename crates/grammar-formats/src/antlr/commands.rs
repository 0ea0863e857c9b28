//! Lexer commands that are written as code, as ANTLR 3 wanted it and many grammars still do: `{
//! skip(); }`.

/// A lexer command: name and argument.
pub type Command = (String, Option<String>);

/// The commands that an action in braces consists of; `None` if it does anything else.
pub fn commands_of(action: &str) -> Option<Vec<Command>> {
    let code = action.strip_prefix('{')?.strip_suffix('}')?;
    let statements = code.split(';').map(str::trim).filter(|s| !s.is_empty());
    let commands: Vec<Command> = statements.map(command).collect::<Option<_>>()?;
    (!commands.is_empty()).then_some(commands)
}

fn command(statement: &str) -> Option<Command> {
    let code: String = statement.chars().filter(|c| !c.is_whitespace()).collect();
    let code = ["this.", "this->", "self.", "$", "_"]
        .iter()
        .fold(&code[..], |c, p| c.strip_prefix(p).unwrap_or(c));
    if let Some((name, value)) = code.split_once('=') {
        return assignment(name, value);
    }
    let (name, argument) = code.strip_suffix(')')?.split_once('(')?;
    match (name.to_lowercase().as_str(), argument) {
        ("skip" | "more" | "popmode", "") => {
            let name = if name.len() == 4 { name.to_lowercase() } else { "popMode".to_string() };
            Some((name, None))
        }
        ("pushmode", mode) => Some(("pushMode".into(), Some(last_name(mode)?))),
        ("mode", mode) => Some(("mode".into(), Some(last_name(mode)?))),
        ("settype", value) => assignment("type", value),
        ("setchannel", value) => assignment("channel", value),
        _ => None,
    }
}

fn assignment(name: &str, value: &str) -> Option<Command> {
    let value = last_name(value)?;
    matches!(name, "type" | "channel").then(|| (name.to_string(), Some(value)))
}

/// `MyLexer.NAME`, `MyLexer::NAME`, `NAME` or a number.
fn last_name(value: &str) -> Option<String> {
    let name = value.rsplit(['.', ':', '>']).next().filter(|n| !n.is_empty())?;
    value.chars().all(|c| c.is_alphanumeric() || "_.:->".contains(c)).then(|| name.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(action: &str) -> Option<String> {
        let show = |(name, argument): Command| format!("{name}({})", argument.unwrap_or_default());
        commands_of(action).map(|all| all.into_iter().map(show).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn code_that_is_a_command() {
        let check = |action, expected: Option<&str>| {
            assert_eq!(shown(action).as_deref(), expected, "{action}")
        };
        check("{skip();}", Some("skip()"));
        check("{ this.Skip(); }", Some("skip()"));
        check("{ $channel = HIDDEN; }", Some("channel(HIDDEN)"));
        check("{ _type = MyLexer.NAME; popMode(); }", Some("type(NAME) popMode()"));
        check("{setChannel(MyLexer::COMMENTS)}", Some("channel(COMMENTS)"));
        check("{ PushMode(DefaultMode); }", Some("pushMode(DefaultMode)"));
        check("{ count++; }", None);
        check("{ if (x) skip(); }", None);
        check("{ x = y; }", None);
        check("{}", None);
    }
}
