import { describe } from 'vitest'
import { edited, patched } from './edit.ts'
import { examples, swap } from './examples.ts'

const CPP = `#include <vector>

#define BUFFER_SIZE 1024

namespace shop {

class Cart : public Base {
public:
  explicit Cart(int id);
  int total() const { return total_; }
private:
  int total_ = 0;
};

void Cart::addItem(const Item& item)
{
#ifdef DEBUG
  log(item);
#endif
  items_.push_back(item);
}

static int parse_header(const char *buf, size_t len)
{
  if (len < 4)
    goto out;
out:
  return -1;
}

}  // namespace shop
`

describe('C and C++', () => {
  examples([
    [
      'a method out of its class, after a preprocessor line',
      edited('cart.cpp', CPP, swap(CPP, ['push_back(item)', 'emplace_back(item)'])),
      { symbols: ['modified Cart.addItem'] },
    ],
    [
      'a function, after a label',
      edited('cart.c', CPP, swap(CPP, ['return -1', 'return -EINVAL'])),
      { symbols: ['modified parse_header'] },
    ],
    [
      'a condition',
      edited('cart.c', CPP, swap(CPP, ['len < 4', 'len < 8'])),
      { symbols: ['modified parse_header'], values: ['len: 4 -> 8'] },
    ],
    [
      'a define and an include',
      edited('cart.cpp', CPP, swap(CPP, ['1024', '4096'], ['<vector>', '<array>'])),
      { values: ['BUFFER_SIZE: 1024 -> 4096'], imports: ['+array', '-vector'] },
    ],
    [
      'an inline method',
      edited('cart.cpp', CPP, swap(CPP, ['return total_;', 'return total_ + 1;'])),
      { symbols: ['modified Cart.total'] },
    ],
    [
      'a test',
      patched('cart_test.cc', '+TEST(CartTest, RejectsEmpty) {', '+}'),
      { notable: ['Adds test: CartTest, RejectsEmpty'] },
    ],
  ])
})

const CS = `using System.Text;

namespace Shop
{
    public class CartService : ICartService
    {
        private const int MaxItems = 50;

        public async Task<Cart> FindAsync(string id)
        {
            return await _db.Get(id);
        }
    }
}
`

describe('C# and Swift', () => {
  examples([
    [
      'a method',
      edited('Cart.cs', CS, swap(CS, ['_db.Get(id)', '_db.Find(id)'])),
      { symbols: ['modified CartService.FindAsync'] },
    ],
    [
      'a constant and a using',
      edited('Cart.cs', CS, swap(CS, ['= 50', '= 60'], ['System.Text', 'System.Text.Json'])),
      { values: ['CartService.MaxItems: 50 -> 60'], imports: ['+System.Text.Json', '-System.Text'] },
    ],
    [
      'ASP.NET',
      patched(
        'Program.cs',
        '+app.MapGet("/health", () => "ok");',
        '+var key = Environment.GetEnvironmentVariable("API_URL");',
      ),
      { notable: ['New route GET /health', 'Reads environment variable API_URL'] },
    ],
    [
      'Swift',
      patched(
        'Cart.swift',
        '+import Combine',
        ' struct Cart {',
        '-    let limit = 5',
        '+    let limit = 6',
        '+    mutating func add(_ item: Item) {',
        '+        items.append(item)',
        '+    }',
        ' }',
      ),
      { symbols: ['new Cart.add', 'modified Cart'], values: ['Cart.limit: 5 -> 6'], imports: ['+Combine'] },
    ],
  ])
})
