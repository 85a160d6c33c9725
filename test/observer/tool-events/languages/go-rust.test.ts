import { describe } from 'vitest'
import { edited, patched } from './edit.ts'
import { examples, swap } from './examples.ts'

const GO = `package shop

import (
\t"fmt"
\t"os"
)

const maxRetries = 3

type Server struct {
\tAddr string
}

func (s *Server) Start(ctx context.Context) error {
\tif s.Addr == "" {
\t\treturn ErrNoAddr
\t}
\treturn nil
}

func NewServer(addr string) *Server {
\treturn &Server{Addr: addr}
}
`

describe('Go', () => {
  examples([
    [
      'a method',
      edited('server.go', GO, swap(GO, ['return ErrNoAddr', 'return fmt.Errorf("no address")'])),
      { symbols: ['modified Server.Start'] },
    ],
    [
      'a field, a constant, an import',
      edited(
        'server.go',
        GO,
        swap(
          GO,
          ['\tAddr string', '\tAddr string\n\tTLS bool'],
          ['maxRetries = 3', 'maxRetries = 5'],
          ['"os"', '"log/slog"'],
        ),
      ),
      { symbols: ['modified Server'], values: ['maxRetries: 3 -> 5'], imports: ['+log/slog', '-os'] },
    ],
    [
      'tabs shown as blanks in the patch, with the text before alone',
      {
        file: 'server.go',
        before: GO,
        after: undefined,
        hunks: [{ oldStart: 17, newStart: 17, lines: ['   }', '-  return nil', '+  return s.listen(ctx)', ' }', ' '] }],
      },
      { symbols: ['modified Server.Start'] },
    ],
    [
      'routes, env, errors, tests',
      patched(
        'api.go',
        '+var ErrFull = errors.New("full")',
        '+\tr.GET("/carts/:id", getCart)',
        '+\tmux.HandleFunc("POST /carts", create)',
        '+\tkey := os.Getenv("STRIPE_KEY")',
        '+func TestCartIsFull(t *testing.T) {',
        '+}',
      ),
      {
        notable: [
          'New route GET /carts/:id',
          'New route POST /carts',
          'Defines error ErrFull',
          'Reads environment variable STRIPE_KEY',
          'Adds test: TestCartIsFull',
        ],
      },
    ],
    [
      'a flag',
      patched('main.go', '+\tdry := flag.Bool("dry-run", false, "change nothing")'),
      { notable: ['Adds CLI flag --dry-run'] },
    ],
  ])
})

const RUST = `use std::collections::HashMap;

const MAX: usize = 10;

pub struct Cart {
    items: Vec<Item>,
}

impl Cart {
    pub fn add(&mut self, item: Item) -> Result<(), CartError> {
        self.items.push(item);
        Ok(())
    }
}

impl<T> Display for Wrapper<T> {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        write!(f, "wrapper")
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn adds_items() {
        assert!(true);
    }
}
`

describe('Rust', () => {
  examples([
    [
      'a method',
      edited('src/cart.rs', RUST, swap(RUST, ['self.items.push(item);', 'self.items.insert(0, item);'])),
      { symbols: ['modified Cart.add'] },
    ],
    [
      'a method of a trait',
      edited('src/cart.rs', RUST, swap(RUST, ['"wrapper"', '"wrapped"'])),
      { symbols: ['modified Wrapper.fmt'] },
    ],
    [
      'a test and a constant',
      edited(
        'src/cart.rs',
        RUST,
        swap(
          RUST,
          ['MAX: usize = 10', 'MAX: usize = 99'],
          ['    #[test]\n', '    #[test]\n    fn rejects() {\n        assert!(full());\n    }\n\n    #[test]\n'],
        ),
      ),
      { symbols: ['new rejects'], values: ['MAX: 10 -> 99'], notable: ['Adds test: rejects'] },
    ],
    [
      'routes and env',
      patched(
        'src/main.rs',
        '+use axum::{Router, routing::get};',
        '+        .route("/health", get(health))',
        '+#[post("/carts")]',
        '+pub async fn create() -> impl Responder {',
        '+    let url = env::var("DATABASE_URL")?;',
        '+}',
      ),
      {
        symbols: ['new create'],
        imports: ['+axum'],
        notable: [
          'New route GET /health',
          'New route POST /carts',
          'Exports create',
          'Reads environment variable DATABASE_URL',
        ],
      },
    ],
  ])
})
