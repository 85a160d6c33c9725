import { describe } from 'vitest'
import { edited, patched } from './edit.ts'
import { examples, swap } from './examples.ts'

const JAVA = `package shop;

import java.util.List;

@Service
public class CartService extends Base implements Closeable {
    private static final int MAX_ITEMS = 50;

    public CartService(Repo repo) {
        this.repo = repo;
    }

    @Override
    public List<Item> items(String id) throws IOException {
        if (id == null) {
            return List.of();
        }
        return repo.find(id);
    }
}
`

describe('Java and Kotlin', () => {
  examples([
    [
      'a method',
      edited('CartService.java', JAVA, swap(JAVA, ['return List.of();', 'throw new IllegalArgumentException();'])),
      { symbols: ['modified CartService.items'] },
    ],
    [
      'a constructor and a constant',
      edited(
        'CartService.java',
        JAVA,
        swap(JAVA, ['this.repo = repo;', 'this.repo = requireNonNull(repo);'], ['= 50', '= 75']),
      ),
      {
        symbols: ['modified CartService', 'modified CartService.CartService'],
        values: ['CartService.MAX_ITEMS: 50 -> 75', 'repo: repo -> requireNonNull(repo)'],
      },
    ],
    [
      'Spring and a test',
      patched(
        'A.java',
        ' class CartController {',
        '+    @GetMapping("/carts/{id}")',
        '+    public Cart get(@PathVariable String id) {',
        '+        return carts.get(System.getenv("REGION"));',
        '+    }',
        '+',
        '+    @Test',
        '+    void rejectsEmpty() {',
        '+    }',
        ' }',
      ),
      {
        symbols: ['new CartController.get', 'new CartController.rejectsEmpty'],
        notable: ['New route GET /carts/{id}', 'Reads environment variable REGION', 'Adds test: rejectsEmpty'],
      },
    ],
    [
      'Kotlin',
      patched(
        'A.kt',
        '+import kotlinx.coroutines.delay',
        ' data class Cart(val id: String) {',
        '+    suspend fun load(id: String): Item? {',
        '+        return null',
        '+    }',
        '     companion object {',
        '-        const val LIMIT = 5',
        '+        const val LIMIT = 9',
        '     }',
        ' }',
      ),
      {
        symbols: ['new Cart.load', 'modified Cart'],
        imports: ['+kotlinx.coroutines.delay'],
        values: ['Cart.LIMIT: 5 -> 9'],
      },
    ],
  ])
})
