import { describe } from 'vitest'
import { edited, patched } from './edit.ts'
import { examples, swap } from './examples.ts'

const SERVICE = `import os
from dataclasses import dataclass

TIMEOUT = 30
ALLOWED = {"a", "b"}


class UserService(Base):
    """Finds users.

def not_code():
    """

    page_size = 20

    def __init__(self, db):
        self.db = db

    async def find(
        self,
        user_id: int,
    ) -> User:
        row = await self.db.get(user_id)
        return User(row)

    @property
    def size(self):
        return len(self.db)


def retry(times: int = 3):
    def wrapper(fn):
        return fn
    return wrapper


result = retry()
`

describe('Python', () => {
  examples([
    [
      'a method with a long head',
      edited('app/users.py', SERVICE, swap(SERVICE, ['return User(row)', 'return User.of(row)'])),
      { symbols: ['modified UserService.find'] },
    ],
    [
      'a parameter of it',
      edited('app/users.py', SERVICE, swap(SERVICE, ['user_id: int,', 'user_id: str,'])),
      { symbols: ['modified UserService.find'] },
    ],
    [
      'a decorated method',
      edited('app/users.py', SERVICE, swap(SERVICE, ['@property', '@cached_property'])),
      { symbols: ['modified UserService.size'] },
    ],
    [
      'a nested function',
      edited('app/users.py', SERVICE, swap(SERVICE, ['        return fn', '        return timed(fn)'])),
      { symbols: ['modified retry.wrapper'] },
    ],
    [
      'values',
      edited(
        'app/users.py',
        SERVICE,
        swap(
          SERVICE,
          ['TIMEOUT = 30', 'TIMEOUT = 60'],
          ['page_size = 20', 'page_size = 100'],
          ['times: int = 3', 'times: int = 5'],
        ),
      ),
      { values: ['TIMEOUT: 30 -> 60', 'UserService.page_size: 20 -> 100', 'times: 3 -> 5'] },
    ],
    [
      'after a function',
      edited('app/users.py', SERVICE, swap(SERVICE, ['result = retry()', 'result = retry(\n    4,\n)'])),
      { symbols: [] },
    ],
    [
      'imports and env',
      edited(
        'app/users.py',
        SERVICE,
        swap(SERVICE, ['import os\n', 'import os, json\nfrom .db import Pool\nURL = os.environ["DATABASE_URL"]\n']),
      ),
      { imports: ['+json', '+.db'], notable: ['Reads environment variable DATABASE_URL'] },
    ],
    [
      'Flask and FastAPI',
      patched(
        'app/api.py',
        '+@app.route("/carts", methods=["POST", "PUT"])',
        '+def create_cart():',
        '+    pass',
        '+@router.get("/carts/{id}")',
        '+async def get_cart(id: int):',
        '+    pass',
      ),
      {
        symbols: ['new create_cart', 'new get_cart'],
        notable: ['New route POST/PUT /carts', 'New route GET /carts/{id}'],
      },
    ],
    [
      'Django',
      patched('urls.py', ' urlpatterns = [', "+    path('orders/<int:pk>/', views.order),", ' ]'),
      { symbols: ['modified urlpatterns'], notable: ['New route /orders/<int:pk>/'] },
    ],
    [
      'tests',
      patched('test_cart.py', '+def test_rejects_empty_cart():', '+    assert not Cart().ok'),
      { symbols: ['new test_rejects_empty_cart'], notable: ['Adds test: test_rejects_empty_cart'] },
    ],
    [
      'an error and a flag',
      patched(
        'cli.py',
        '+class CartError(ValueError):',
        '+    pass',
        '+parser.add_argument("-n", "--dry-run", action="store_true")',
      ),
      { notable: ['Defines error CartError', 'Adds CLI flag --dry-run'] },
    ],
    [
      'a renamed method',
      edited('app/users.py', SERVICE, swap(SERVICE, ['async def find(', 'async def get('])),
      { renamed: ['UserService.find -> UserService.get'], symbols: ['modified UserService.get'] },
    ],
  ])
})
