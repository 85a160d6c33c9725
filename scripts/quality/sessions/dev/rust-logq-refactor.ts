/** Rust: a command-line tool is split into modules, the borrow checker objects, a panic on odd input becomes an error. */
import { accessLog, changelog } from '../../material.ts'
import type { Recorder } from '../../recorder.ts'
import type { Fact } from '../../scenario.ts'

export const project = 'logq'

export const facts: Fact[] = [
  { ask: 'Into which modules was main.rs split?', expect: ['src/parse.rs', 'src/filter.rs', 'src/output.rs'] },
  { ask: 'Why did logq panic on some logs?', expect: ['unwrap', 'None'] },
  { ask: 'Which type reports bad lines now?', expect: ['ParseError'] },
  { ask: 'What did the borrow checker object to?', expect: ['E0382', 'entries'] },
  { ask: 'Why does Entry borrow instead of owning Strings?', expect: ["Entry<'a>", 'borrow'] },
  { ask: 'Why is there no regex crate?', expect: ['regex', 'dependencies'] },
  { ask: 'Which levels does the filter know, and how are they ordered?', expect: ['Level', 'Ord'] },
  { ask: 'What is the exit code when lines could not be parsed?', expect: ['exit code 3'] },
  { ask: 'What is the new option for the smallest level?', expect: ['--min-level'] },
  { ask: 'How many tests pass in the end?', expect: ['9 passed'] },
]

const MAIN = `use std::env;
use std::fs;

#[derive(Debug)]
struct Entry {
    time: String,
    level: String,
    message: String,
}

fn parse(line: &str) -> Entry {
    let mut parts = line.splitn(3, ' ');
    let time = parts.next().unwrap().to_string();
    let level = parts.next().unwrap().trim_matches(|c| c == '[' || c == ']').to_string();
    let message = parts.next().unwrap().to_string();
    Entry { time, level, message }
}

fn main() {
    let args: Vec<String> = env::args().collect();
    let path = &args[1];
    let wanted = args.get(2).cloned();
    let text = fs::read_to_string(path).unwrap();
    for line in text.lines() {
        let entry = parse(line);
        if let Some(level) = &wanted {
            if &entry.level != level {
                continue;
            }
        }
        println!("{} {:5} {}", entry.time, entry.level, entry.message);
    }
}
`
const PARSE = `use std::fmt;
use std::str::FromStr;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Debug,
    Info,
    Warn,
    Error,
}

impl FromStr for Level {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        match text.to_ascii_lowercase().as_str() {
            "debug" => Ok(Level::Debug),
            "info" => Ok(Level::Info),
            "warn" | "warning" => Ok(Level::Warn),
            "error" => Ok(Level::Error),
            _ => Err(ParseError::UnknownLevel(text.to_string())),
        }
    }
}

/// Borrows from the text of the file: logs have millions of lines, and no line needs a copy.
#[derive(Debug, PartialEq)]
pub struct Entry<'a> {
    pub time: &'a str,
    pub level: Level,
    pub message: &'a str,
}

#[derive(Debug, PartialEq)]
pub enum ParseError {
    MissingLevel,
    MissingMessage,
    UnknownLevel(String),
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParseError::MissingLevel => write!(f, "there is no level"),
            ParseError::MissingMessage => write!(f, "there is no message"),
            ParseError::UnknownLevel(text) => write!(f, "unknown level {text:?}"),
        }
    }
}

pub fn parse_line(line: &str) -> Result<Entry<'_>, ParseError> {
    let mut parts = line.splitn(3, ' ');
    let time = parts.next().unwrap_or_default();
    let level = parts.next().ok_or(ParseError::MissingLevel)?;
    let message = parts.next().ok_or(ParseError::MissingMessage)?;
    let level = level.trim_matches(['[', ']']).parse()?;
    Ok(Entry { time, level, message })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_line() {
        let entry = parse_line("12:00:01 [warn] disk is full").unwrap();
        assert_eq!(entry.level, Level::Warn);
        assert_eq!(entry.message, "disk is full");
    }

    #[test]
    fn a_line_without_a_level_is_an_error() {
        assert_eq!(parse_line("12:00:01"), Err(ParseError::MissingLevel));
    }

    #[test]
    fn a_line_without_a_message_is_an_error() {
        assert_eq!(parse_line("12:00:01 [info]"), Err(ParseError::MissingMessage));
    }

    #[test]
    fn levels_are_ordered() {
        assert!(Level::Error > Level::Warn && Level::Warn > Level::Info);
    }
}
`
const FILTER = `use crate::parse::{Entry, Level};

#[derive(Debug, Default)]
pub struct Filter {
    pub min_level: Option<Level>,
    pub contains: Option<String>,
}

impl Filter {
    pub fn accepts(&self, entry: &Entry) -> bool {
        self.min_level.map_or(true, |least| entry.level >= least)
            && self.contains.as_ref().map_or(true, |part| entry.message.contains(part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::parse_line;

    #[test]
    fn keeps_the_level_and_above() {
        let filter = Filter { min_level: Some(Level::Warn), contains: None };
        assert!(filter.accepts(&parse_line("1 [error] x").unwrap()));
        assert!(!filter.accepts(&parse_line("1 [info] x").unwrap()));
    }

    #[test]
    fn keeps_what_contains_the_text() {
        let filter = Filter { min_level: None, contains: Some("disk".to_string()) };
        assert!(filter.accepts(&parse_line("1 [info] disk full").unwrap()));
        assert!(!filter.accepts(&parse_line("1 [info] net down").unwrap()));
    }

    #[test]
    fn without_conditions_keeps_everything() {
        assert!(Filter::default().accepts(&parse_line("1 [debug] x").unwrap()));
    }
}
`

export default async function (r: Recorder): Promise<void> {
  r.files({
    'Cargo.toml': '[package]\nname = "logq"\nversion = "0.3.0"\nedition = "2021"\n\n[dependencies]\n',
    'src/main.rs': MAIN,
    'samples/app.log':
      '12:00:01 [info] started\n12:00:02 [warn] disk is at 91 %\n12:00:03 [error] disk is full\n12:00:04\n12:00:05 [info] stopped\n',
    'samples/access.log': accessLog(160),
    'CHANGELOG.md': changelog(26),
    '.gitignore': 'target/\n',
    'README.md': '# logq\n\nFilters logs by level.\n',
  })
  r.shell('cargo generate-lockfile --offline -q; git init -q && git add -A && git commit -qm "logq 0.3.0"')

  r.prompt(
    'logq panics on some of our log files. Find out why. main.rs also wants to be split into modules before I add features, so do both: parsing, filtering and output on their own, with tests. No regex crate please: I want to stay without dependencies because the tool is vendored into our images.',
  )
  await r.bash('cat Cargo.toml && ls -R src samples', { description: 'Look around' })
  await r.read('src/main.rs')
  await r.bash('cargo run -q -- samples/app.log', { description: 'Reproduce the panic', timeoutMs: 180000 })
  await r.read('samples/access.log')
  await r.read('samples/app.log')
  await r.read('CHANGELOG.md')
  await r.grep('unwrap\\(\\)', { output_mode: 'content', '-n': true, path: 'src' })
  await r.bash('sed -n 4p samples/app.log | cat -A', { description: 'The line that panics' })
  r.say(
    'Line 4 has a time and nothing else: `parts.next()` is None there and the unwrap panics. Such lines must be errors that are reported, not panics.',
  )
  r.todo([
    { content: 'src/parse.rs with ParseError', status: 'in_progress' },
    { content: 'src/filter.rs', status: 'pending' },
    { content: 'src/output.rs', status: 'pending' },
  ])
  await r.write('src/parse.rs', PARSE)
  await r.write('src/filter.rs', FILTER)
  await r.write(
    'src/output.rs',
    'use std::io::{self, Write};\n\nuse crate::parse::Entry;\n\npub fn print_all<W: Write>(out: &mut W, entries: Vec<Entry>) -> io::Result<usize> {\n    for entry in entries {\n        writeln!(out, "{} {:5} {}", entry.time, format!("{:?}", entry.level).to_lowercase(), entry.message)?;\n    }\n    Ok(entries.len())\n}\n',
  )
  await r.write(
    'src/main.rs',
    `mod filter;
mod output;
mod parse;

use std::process::ExitCode;
use std::{env, fs, io};

use filter::Filter;

fn main() -> ExitCode {
    let mut args = env::args().skip(1);
    let Some(path) = args.next() else {
        eprintln!("usage: logq FILE [LEVEL]");
        return ExitCode::from(2);
    };
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("logq: {path}: {error}");
            return ExitCode::from(1);
        }
    };
    let filter = Filter { min_level: args.next().and_then(|level| level.parse().ok()), contains: None };
    let mut bad = 0;
    let mut entries = Vec::new();
    for (number, line) in text.lines().enumerate() {
        match parse::parse_line(line) {
            Ok(entry) if filter.accepts(&entry) => entries.push(entry),
            Ok(_) => {}
            Err(error) => {
                eprintln!("logq: {path}:{}: {error}", number + 1);
                bad += 1;
            }
        }
    }
    let _ = output::print_all(&mut io::stdout(), entries);
    if bad == 0 { ExitCode::SUCCESS } else { ExitCode::from(3) }
}
`,
  )
  await r.bash('cargo build', { description: 'Build', timeoutMs: 180000 })
  await r.edit('src/output.rs', '    for entry in entries {', '    for entry in &entries {')
  await r.bash('cargo build', { description: 'Build', timeoutMs: 180000 })
  await r.edit(
    'src/output.rs',
    'pub fn print_all<W: Write>(out: &mut W, entries: Vec<Entry>) -> io::Result<usize> {\n    for entry in &entries {',
    "pub fn print_all<W: Write>(out: &mut W, entries: &[Entry<'_>]) -> io::Result<usize> {\n    for entry in entries {",
  )
  await r.edit(
    'src/main.rs',
    'output::print_all(&mut io::stdout(), entries)',
    'output::print_all(&mut io::stdout(), &entries)',
  )
  await r.bash('cargo test', { description: 'Run the tests', timeoutMs: 180000 })
  await r.bash('cargo run -q -- samples/app.log warn; echo "exit code $?"', {
    description: 'Try it on the sample',
    timeoutMs: 60000,
  })
  await r.bash('cargo clippy -q', {
    description: 'Lint',
    stdoutOverride:
      'warning: this `map_or` can be simplified\n  --> src/filter.rs:11:9\n   |\n11 |         self.min_level.map_or(true, |least| entry.level >= least)\n   | help: use is_none_or instead\n\nwarning: `logq` (bin "logq") generated 1 warning',
  })
  await r.edit('src/filter.rs', 'self.min_level.map_or(true, |least|', 'self.min_level.is_none_or(|least|')
  await r.bash('cargo test -q', { description: 'Run the tests', timeoutMs: 180000 })
  await r.bash(
    'git add -A && git commit -q -m "Split logq into modules, report bad lines" -m "parse unwrapped a None on lines with nothing but a time. Lines that cannot be parsed are told on stderr with their number, and the exit code is 3." && git log --oneline | head -3',
    { description: 'Commit' },
  )
  r.end(
    "main.rs is split into src/parse.rs, src/filter.rs and src/output.rs. The panic is gone. `Entry<'a>` borrows from the file's text instead of owning Strings because a log has millions of lines.",
  )

  r.prompt('Now add --min-level and --contains as proper options instead of the positional level.')
  await r.read('src/main.rs')
  await r.read('src/filter.rs')
  await r.read('src/parse.rs')
  await r.bash('tail -60 samples/access.log', { description: 'Other lines' })
  await r.bash('ls ~/.cargo/registry 2>/dev/null | head -3; cargo --version', { description: 'What is at hand' })
  await r.write(
    'src/options.rs',
    `use crate::filter::Filter;

#[derive(Debug)]
pub struct Options {
    pub path: String,
    pub filter: Filter,
}

/// By hand: two options do not justify clap.
pub fn parse_options(mut args: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut path = None;
    let mut filter = Filter::default();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--min-level" => {
                let value = args.next().ok_or("--min-level needs a level")?;
                filter.min_level = Some(value.parse().map_err(|error| format!("--min-level: {error}"))?);
            }
            "--contains" => filter.contains = Some(args.next().ok_or("--contains needs a text")?),
            _ if arg.starts_with("--") => return Err(format!("unknown option {arg}")),
            _ => path = Some(arg),
        }
    }
    Ok(Options { path: path.ok_or("usage: logq FILE [--min-level LEVEL] [--contains TEXT]")?, filter })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::Level;

    fn options(args: &[&str]) -> Result<Options, String> {
        parse_options(args.iter().map(|arg| arg.to_string()))
    }

    #[test]
    fn reads_both_options() {
        let options = options(&["a.log", "--min-level", "warn", "--contains", "disk"]).unwrap();
        assert_eq!(options.filter.min_level, Some(Level::Warn));
        assert_eq!(options.filter.contains.as_deref(), Some("disk"));
    }

    #[test]
    fn says_what_is_wrong() {
        assert_eq!(options(&["a.log", "--min-level", "loud"]).unwrap_err(), "--min-level: unknown level \\"loud\\"");
    }
}
`,
  )
  await r.edit(
    'src/main.rs',
    `    let mut args = env::args().skip(1);
    let Some(path) = args.next() else {
        eprintln!("usage: logq FILE [LEVEL]");
        return ExitCode::from(2);
    };
`,
    `    let Options { path, filter } = match parse_options(env::args().skip(1)) {
        Ok(options) => options,
        Err(error) => {
            eprintln!("logq: {error}");
            return ExitCode::from(2);
        }
    };
`,
  )
  await r.edit(
    'src/main.rs',
    '    let filter = Filter { min_level: args.next().and_then(|level| level.parse().ok()), contains: None };\n',
    '',
  )
  await r.bash('cargo test', { description: 'Run the tests', timeoutMs: 180000 })
  await r.edit('src/main.rs', 'use filter::Filter;\n', 'use options::{parse_options, Options};\n')
  await r.edit('src/main.rs', 'mod filter;\nmod output;', 'mod filter;\nmod options;\nmod output;')
  await r.bash('cargo test', { description: 'Run the tests', timeoutMs: 180000 })
  await r.bash('cargo run -q -- samples/app.log --min-level warn --contains disk; echo "exit code $?"', {
    description: 'Try it',
    timeoutMs: 60000,
  })
  await r.edit(
    'README.md',
    'Filters logs by level.',
    'Filters logs: `logq app.log --min-level warn --contains disk`. Exit code 3: some lines could not be parsed.',
  )
  await r.edit('Cargo.toml', 'version = "0.3.0"', 'version = "0.4.0"')
  await r.bash(
    'cargo build -q && git add -A && git commit -q -m "Add --min-level and --contains" && git status --short',
    { description: 'Commit', timeoutMs: 60000 },
  )
  r.end('Both options are in, parsed by hand; the positional level is gone. Version is 0.4.0.')
}
