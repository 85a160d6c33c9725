import type { Recorder } from '../../recorder.ts'
import { startProject } from './lib/project.ts'

export const project = 'tickstore'

/** C++, really compiled and measured: a quadratic window, drifting sums, a dangling pointer found by AddressSanitizer. */

const makefile = `CXX ?= g++
CXXFLAGS ?= -std=c++17 -O2 -g -Wall -Wextra -Isrc
LIB = src/parser.cpp src/window.cpp src/feed.cpp

all: build/bench build/tests

build/bench: bench/main.cpp $(LIB) $(wildcard src/*.hpp)
	@mkdir -p build
	$(CXX) $(CXXFLAGS) -o $@ bench/main.cpp $(LIB)

build/tests: tests/main.cpp $(LIB) $(wildcard src/*.hpp)
	@mkdir -p build
	$(CXX) $(CXXFLAGS) -o $@ tests/main.cpp $(LIB)

bench: build/bench
	./build/bench 40000

test: build/tests
	./build/tests

asan:
	@mkdir -p build
	$(CXX) -std=c++17 -O1 -g -Isrc -fsanitize=address -fno-omit-frame-pointer -o build/bench-asan bench/main.cpp $(LIB)
	./build/bench-asan 2000

.PHONY: all bench test asan
`

const tickHpp = `#pragma once
#include <cstdint>

/// One trade on the tape.
struct Tick {
  std::int64_t at_us;
  double price;
  std::uint32_t size;
};
`

const windowHpp = `#pragma once
#include "tick.hpp"
#include <cstddef>
#include <vector>

/// Ticks of the last span_us microseconds and their volume weighted average price.
class Window {
public:
  explicit Window(std::int64_t span_us) : span_us_(span_us) { ticks_.reserve(1024); }

  void push(const Tick &tick);
  double vwap() const;
  const Tick &latest() const { return ticks_.back(); }
  std::size_t size() const { return ticks_.size(); }
  std::uint64_t moves() const { return moves_; }

private:
  std::int64_t span_us_;
  std::vector<Tick> ticks_;
  std::uint64_t moves_ = 0; // elements shifted so far, for the bench
};
`

const windowCpp = `#include "window.hpp"

void Window::push(const Tick &tick) {
  ticks_.push_back(tick);
  while (ticks_.front().at_us < tick.at_us - span_us_) {
    moves_ += ticks_.size() - 1;
    ticks_.erase(ticks_.begin());
  }
}

double Window::vwap() const {
  double value = 0;
  double volume = 0;
  for (const Tick &tick : ticks_) {
    value += tick.price * tick.size;
    volume += tick.size;
  }
  return volume > 0 ? value / volume : 0;
}
`

const parserCpp = `#include "parser.hpp"
#include <sstream>
#include <string>

std::vector<Tick> parse_csv(const std::string &text) {
  std::vector<Tick> ticks;
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream fields(line);
    std::string venue, at, price, size;
    std::getline(fields, venue, ',');
    std::getline(fields, at, ',');
    std::getline(fields, price, ',');
    std::getline(fields, size, ',');
    ticks.push_back({std::stoll(at), std::stod(price), static_cast<std::uint32_t>(std::stoul(size))});
  }
  return ticks;
}
`

const feedHpp = `#pragma once
#include "window.hpp"

/// Follows one instrument: its window and the largest jump between two trades.
class Feed {
public:
  explicit Feed(std::int64_t span_us) : window_(span_us) {}
  void on_tick(const Tick &tick);
  double max_jump() const { return max_jump_; }
  const Window &window() const { return window_; }

private:
  Window window_;
  const Tick *last_ = nullptr;
  double max_jump_ = 0;
};
`

const feedCpp = `#include "feed.hpp"
#include <algorithm>
#include <cmath>

void Feed::on_tick(const Tick &tick) {
  window_.push(tick);
  if (last_ != nullptr)
    max_jump_ = std::max(max_jump_, std::abs(tick.price - last_->price));
  last_ = &window_.latest();
}
`

const benchCpp = `#include "feed.hpp"
#include "parser.hpp"
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>

static std::uint64_t allocations = 0;

void *operator new(std::size_t size) {
  ++allocations;
  if (void *p = std::malloc(size))
    return p;
  throw std::bad_alloc();
}
void operator delete(void *p) noexcept { std::free(p); }
void operator delete(void *p, std::size_t) noexcept { std::free(p); }

static std::string tape(int count) {
  std::string text;
  std::uint64_t seed = 42;
  long long at = 1700000000000000;
  long long price = 1012500;
  for (int i = 0; i < count; ++i) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    price += static_cast<long long>(seed >> 60) - 7;
    at += 100;
    char line[96];
    std::snprintf(line, sizeof line, "XAMS-CONTINUOUS-TRADING,%lld,%lld.%04lld,%llu\\n", at, price / 10000,
                  price % 10000, static_cast<unsigned long long>(1 + (seed >> 40) % 900));
    text += line;
  }
  return text;
}

int main(int argc, char **argv) {
  using clock = std::chrono::steady_clock;
  const int count = argc > 1 ? std::atoi(argv[1]) : 40000;
  const std::string text = tape(count);
  allocations = 0;
  const auto begun = clock::now();
  const auto ticks = parse_csv(text);
  const auto parsed = clock::now();
  const auto parse_allocations = allocations;
  Feed feed(1'000'000);
  double checksum = 0;
  for (const auto &tick : ticks) {
    feed.on_tick(tick);
    checksum += feed.window().vwap();
  }
  const auto done = clock::now();
  const auto ms = [](auto d) { return std::chrono::duration_cast<std::chrono::milliseconds>(d).count(); };
  std::printf("ticks        %d\\n", count);
  std::printf("parse        %lld ms, %llu allocations\\n", static_cast<long long>(ms(parsed - begun)),
              static_cast<unsigned long long>(parse_allocations));
  std::printf("window       %lld ms, %llu moves, size %zu\\n", static_cast<long long>(ms(done - parsed)),
              static_cast<unsigned long long>(feed.window().moves()), feed.window().size());
  std::printf("max jump     %.4f\\n", feed.max_jump());
  std::printf("checksum     %.6f\\n", checksum);
}
`

const testsCpp = `#include "feed.hpp"
#include "parser.hpp"
#include <cmath>
#include <cstdio>
#include <vector>

static int failed = 0;
static int passed = 0;

#define CHECK(what)                                                                                                    \\
  do {                                                                                                                 \\
    if (what) {                                                                                                        \\
      ++passed;                                                                                                        \\
    } else {                                                                                                           \\
      ++failed;                                                                                                        \\
      std::printf("%s:%d: CHECK(%s) failed\\n", __FILE__, __LINE__, #what);                                             \\
    }                                                                                                                  \\
  } while (0)

static void parses_a_line() {
  const auto ticks = parse_csv("XAMS,1700000000000100,101.2500,300\\n");
  CHECK(ticks.size() == 1);
  CHECK(ticks[0].at_us == 1700000000000100);
  CHECK(ticks[0].size == 300);
}

static void window_forgets_old_ticks() {
  Window window(1000);
  for (int i = 0; i < 50; ++i)
    window.push({i * 100, 10.0 + i, 1});
  CHECK(window.size() == 11);
  CHECK(window.latest().at_us == 4900);
}

static void vwap_weighs_by_size() {
  Window window(1000);
  window.push({0, 10.0, 1});
  window.push({1, 20.0, 3});
  CHECK(window.vwap() == 17.5);
}

static void feed_knows_the_largest_jump() {
  Feed feed(1000);
  feed.on_tick({0, 10.0, 1});
  feed.on_tick({1, 10.5, 1});
  feed.on_tick({2, 9.5, 1});
  CHECK(std::abs(feed.max_jump() - 1.0) < 1e-9);
}

int main() {
  parses_a_line();
  window_forgets_old_ticks();
  vwap_weighs_by_size();
  feed_knows_the_largest_jump();
  std::printf("%d checks passed, %d failed\\n", passed, failed);
  return failed == 0 ? 0 : 1;
}
`

const ringHpp = `#pragma once
#include "tick.hpp"
#include <cstddef>
#include <vector>

/// Ticks of the last span_us microseconds and their volume weighted average price.
/// A ring that doubles when it is full: push and evict are O(1), vwap comes from running sums.
class Window {
public:
  explicit Window(std::int64_t span_us) : span_us_(span_us), ring_(16) {}

  void push(const Tick &tick);
  double vwap() const { return volume_ > 0 ? value_ / volume_ : 0; }
  const Tick &latest() const { return at(count_ - 1); }
  std::size_t size() const { return count_; }
  std::uint64_t moves() const { return moves_; }

private:
  const Tick &at(std::size_t i) const { return ring_[(head_ + i) & (ring_.size() - 1)]; }
  void grow();
  void evict_before(std::int64_t at_us);

  std::int64_t span_us_;
  std::vector<Tick> ring_; // size is a power of two
  std::size_t head_ = 0;
  std::size_t count_ = 0;
  double value_ = 0;
  double volume_ = 0;
  std::uint64_t moves_ = 0; // elements copied while growing, for the bench
};
`

const ringCpp = `#include "window.hpp"

void Window::push(const Tick &tick) {
  if (count_ == ring_.size())
    grow();
  ring_[(head_ + count_) & (ring_.size() - 1)] = tick;
  ++count_;
  value_ += tick.price * tick.size;
  volume_ += tick.size;
  evict_before(tick.at_us - span_us_);
}

void Window::evict_before(std::int64_t at_us) {
  while (count_ > 0 && at(0).at_us < at_us) {
    value_ -= at(0).price * at(0).size;
    volume_ -= at(0).size;
    head_ = (head_ + 1) & (ring_.size() - 1);
    --count_;
  }
}

void Window::grow() {
  std::vector<Tick> larger(ring_.size() * 2);
  for (std::size_t i = 0; i < count_; ++i)
    larger[i] = at(i);
  moves_ += count_;
  ring_.swap(larger);
  head_ = 0;
}
`

function field(output: string, label: string): string {
  return output.match(new RegExp(`${label}\\s+(\\d+) ms`))?.[1] ?? '?'
}

export default async function (r: Recorder): Promise<void> {
  startProject(
    r,
    {
      Makefile: makefile,
      'src/tick.hpp': tickHpp,
      'src/window.hpp': windowHpp,
      'src/window.cpp': windowCpp,
      'src/parser.hpp':
        '#pragma once\n#include "tick.hpp"\n#include <string>\n#include <vector>\n\nstd::vector<Tick> parse_csv(const std::string &text);\n',
      'src/parser.cpp': parserCpp,
      'src/feed.hpp': feedHpp,
      'src/feed.cpp': feedCpp,
      'bench/main.cpp': benchCpp,
      'tests/main.cpp': testsCpp,
      '.gitignore': 'build/\n',
      'README.md': '# tickstore\n\nReplays a trade tape and keeps sliding windows. `make test`, `make bench`.\n',
    },
    {
      author: 'Jonas Vik',
      commits: ['Parse tape, sliding window', 'Feed: largest jump', 'Bench with allocation counter'],
    },
  )

  r.prompt(
    'Replaying one day of XAMS takes 40 minutes, that was never meant to be. `make bench` is a small version of it. I suspect the CSV parser with all its strings. Measure before you change anything please.',
  )
  await r.bash('ls && cat Makefile', { description: 'Look around' })
  await r.read('bench/main.cpp')
  const before = await r.bash('make bench', { description: 'Build and run the bench', timeoutMs: 120_000 })
  r.say(
    `The parser is not it: parse takes ${field(before, 'parse')} ms, the window ${field(before, 'window')} ms. The moves counter says how many elements were shifted.`,
  )
  await r.read('src/window.hpp')
  await r.read('src/window.cpp')
  await r.bash('./build/bench 20000', { description: 'Half the ticks, to see the growth' })
  await r.grep('erase|insert\\(', { path: 'src', output_mode: 'content', '-n': true })
  await r.read('src/feed.cpp')
  await r.read('src/feed.hpp')
  await r.bash('make test', { description: 'Run the tests before the change' })
  r.say(
    'erase(begin()) shifts the whole window for every tick that leaves, and vwap walks the whole window again. A ring with running sums makes both O(1).',
  )
  r.todo([
    { content: 'Measure', status: 'completed' },
    { content: 'Ring buffer instead of erase(begin())', status: 'in_progress' },
    { content: 'Running sums for vwap', status: 'pending' },
    { content: 'Property test against the naive sum', status: 'pending' },
  ])
  await r.edit(
    'tests/main.cpp',
    'static void feed_knows_the_largest_jump() {',
    `static void vwap_equals_the_naive_sum() {
  Window window(5000);
  std::vector<Tick> all;
  std::uint64_t seed = 7;
  bool same = true;
  for (int i = 0; i < 100000; ++i) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    all.push_back({i * 100, 100.0 + static_cast<double>(seed >> 50) / 10000, static_cast<std::uint32_t>(1 + (seed >> 33) % 900)});
    window.push(all.back());
    double value = 0, volume = 0;
    for (std::size_t k = all.size() - window.size(); k < all.size(); ++k) {
      value += all[k].price * all[k].size;
      volume += all[k].size;
    }
    same = same && std::abs(window.vwap() - value / volume) < 1e-12;
  }
  CHECK(same);
}

static void feed_knows_the_largest_jump() {`,
  )
  await r.edit(
    'tests/main.cpp',
    '  feed_knows_the_largest_jump();\n  std',
    '  vwap_equals_the_naive_sum();\n  feed_knows_the_largest_jump();\n  std',
  )
  await r.bash('make test', { description: 'The property holds for the old code' })
  await r.write('src/window.hpp', ringHpp)
  await r.write('src/window.cpp', ringCpp)
  await r.bash('make test', { description: 'Run the tests with the ring' })
  r.say(
    'The ring is right, the sums are not: adding and subtracting doubles drifts, after 100,000 ticks vwap is off by more than 1e-12. A larger tolerance only hides it, a whole trading day would be worse.',
  )
  r.webSearch('running sum sliding window floating point drift Kahan Neumaier vs fixed point price', [
    {
      title: 'Numerical drift in rolling window aggregates',
      url: 'https://example.org/rolling-drift',
      snippet:
        'Compensated summation reduces the error but subtraction still leaves residue; integers in ticks of the minimum price increment are exact.',
    },
    {
      title: 'Kahan summation algorithm',
      url: 'https://en.wikipedia.org/wiki/Kahan_summation_algorithm',
      snippet:
        'Compensated summation reduces the numerical error in the total obtained by adding a sequence of finite-precision numbers.',
    },
  ])
  r.end(
    'Measured: the parser is harmless, the window is quadratic because of `erase(begin())` in `Window::push`. The ring buffer is done, but running sums of doubles drift and the new test `vwap_equals_the_naive_sum` fails. Two ways: Kahan summation (smaller drift, still there) or prices as integers in units of 0.0001 (exact). Which one?',
  )

  r.prompt(
    'Integers. The exchange quotes four decimals anyway, so int64 in 1e-4 is exact, and Kahan would only make the drift smaller. Field should be called price_e4.',
  )
  await r.edit(
    'src/tick.hpp',
    '  double price;\n',
    '  std::int64_t price_e4; // in units of 0.0001, so that sums are exact\n',
  )
  await r.multiEdit('src/window.hpp', [
    {
      old_string: '  double value_ = 0;\n  double volume_ = 0;\n',
      new_string: '  std::int64_t value_ = 0; // sum of price_e4 * size\n  std::int64_t volume_ = 0;\n',
    },
    {
      old_string: '  double vwap() const { return volume_ > 0 ? value_ / volume_ : 0; }\n',
      new_string:
        '  double vwap() const {\n    return volume_ > 0 ? static_cast<double>(value_) / static_cast<double>(volume_) / 1e4 : 0;\n  }\n',
    },
  ])
  await r.multiEdit('src/window.cpp', [
    { old_string: 'value_ += tick.price * tick.size;', new_string: 'value_ += tick.price_e4 * tick.size;' },
    { old_string: 'value_ -= at(0).price * at(0).size;', new_string: 'value_ -= at(0).price_e4 * at(0).size;' },
  ])
  await r.bash('make test', { description: 'Build and test' })
  await r.edit(
    'src/feed.cpp',
    'std::abs(tick.price - last_->price));',
    'static_cast<double>(std::abs(tick.price_e4 - last_->price_e4)) / 1e4);',
  )
  await r.write(
    'src/parser.cpp',
    `#include "parser.hpp"
#include <charconv>
#include <string_view>

namespace {

std::string_view next_field(std::string_view &rest, char end) {
  const auto cut = rest.find(end);
  const auto field = rest.substr(0, cut);
  rest.remove_prefix(cut == std::string_view::npos ? rest.size() : cut + 1);
  return field;
}

template <class T> T number(std::string_view text) {
  T value{};
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// "101.25" is 1012500: never through a double.
std::int64_t fixed_e4(std::string_view text) {
  auto rest = text;
  const auto whole = number<std::int64_t>(next_field(rest, '.'));
  std::int64_t fraction = 0;
  for (std::size_t i = 0; i < 4; ++i)
    fraction = fraction * 10 + (i < rest.size() ? rest[i] - '0' : 0);
  return whole * 10000 + fraction;
}

} // namespace

std::vector<Tick> parse_csv(const std::string &text) {
  std::vector<Tick> ticks;
  std::string_view rest(text);
  while (!rest.empty()) {
    auto line = next_field(rest, '\\n');
    next_field(line, ','); // venue
    const auto at = number<std::int64_t>(next_field(line, ','));
    const auto price = fixed_e4(next_field(line, ','));
    ticks.push_back({at, price, number<std::uint32_t>(next_field(line, ','))});
  }
  return ticks;
}
`,
  )
  await r.bash(
    "sed -i 's/{i \\* 100, 10.0 + i, 1}/{i * 100, 100000 + i * 10000, 1}/; s/{0, 10.0, 1}/{0, 100000, 1}/; s/{1, 20.0, 3}/{1, 200000, 3}/; s/{1, 10.5, 1}/{1, 105000, 1}/; s/{2, 9.5, 1}/{2, 95000, 1}/; s/100.0 + static_cast<double>(seed >> 50) \\/ 10000/1000000 + static_cast<std::int64_t>(seed >> 50)/; s/all\\[k\\].price \\* all/all[k].price_e4 * all/; s/value = 0, volume = 0;/value = 0, volume = 0; \\/\\/ exact below 2^53/; s/value \\/ volume)/value \\/ volume \\/ 1e4)/' tests/main.cpp && git diff --stat tests",
    { description: 'Prices in the tests as integers' },
  )
  await r.bash('make test', { description: 'Build and test' })
  const after = await r.bash('make bench', { description: 'Run the bench again' })
  await r.bash(
    `git add -A && git commit -F - <<'MSG'
Window: ring buffer with exact running sums

push used erase(begin()) on a vector, 300 million element moves for 40,000
ticks. The ring evicts in O(1). Prices are int64 in 1e-4 (price_e4) instead of
double, because running sums of doubles drift; Kahan would only shrink the error.
The parser reads with from_chars and no longer allocates per field.
MSG`,
    { description: 'Commit the ring' },
  )
  r.end(
    `The window went from ${field(before, 'window')} ms to ${field(after, 'window')} ms for 40,000 ticks: moves fell from 300019999 to 16368. The parser went from 120019 to 17 allocations by the way. Prices are \`price_e4\` everywhere, 8 checks pass.`,
  )

  r.prompt(
    'Since that commit the replay sometimes reports an absurd max jump, or crashes on the big tape. Can you look?',
  )
  await r.bash('for n in 10 100 2000 40000; do ./build/bench $n | grep jump; done', {
    description: 'Max jump for several sizes',
  })
  r.say('Here it looks right every time, which fits a read of freed memory that nobody has reused yet.')
  await r.read('src/feed.cpp')
  await r.bash('make asan 2>&1 | head -45', { description: 'Run under AddressSanitizer' })
  await r.read('src/window.cpp')
  r.say(
    'heap-use-after-free in Feed::on_tick: last_ points into the ring, and the next push may call Window::grow, which frees the old buffer. With the old vector the reserve(1024) only hid it. The feed should keep a copy, a Tick is 24 bytes.',
  )
  await r.edit(
    'src/feed.hpp',
    '  const Tick *last_ = nullptr;\n',
    '  std::optional<Tick> last_; // a copy: the window may move its ticks\n',
  )
  await r.edit('src/feed.hpp', '#include "window.hpp"\n', '#include "window.hpp"\n#include <optional>\n')
  await r.edit('src/feed.cpp', '  if (last_ != nullptr)\n', '  if (last_)\n')
  await r.edit('src/feed.cpp', '  last_ = &window_.latest();\n', '  last_ = tick;\n')
  await r.edit('src/window.hpp', '  const Tick &latest() const {', '  Tick latest() const {')
  await r.edit(
    'tests/main.cpp',
    'int main() {',
    `static void jump_survives_growing_and_evicting() {
  Feed feed(100'000);
  for (int i = 0; i < 5000; ++i)
    feed.on_tick({i * 100, 1000000 + (i % 2) * 25, 1});
  CHECK(std::abs(feed.max_jump() - 0.0025) < 1e-9);
}

int main() {
  jump_survives_growing_and_evicting();`,
  )
  await r.bash('make asan && make test', { description: 'AddressSanitizer and tests' })
  await r.bash('make build/bench && for n in 10 100 2000 40000; do ./build/bench $n | grep jump; done', {
    description: 'Rebuild, max jump again',
  })
  await r.bash(
    'git commit -am "Feed keeps a copy of the last tick: last_ dangled after Window::grow" && git log --oneline | head -3',
    {
      description: 'Commit the fix',
    },
  )
  r.end(
    'It was a dangling pointer: `Feed::last_` pointed into the ring and `Window::grow` freed it (heap-use-after-free). `Feed` now keeps a copy in a `std::optional<Tick>` and `latest()` returns by value. New test `jump_survives_growing_and_evicting`, 9 checks pass, AddressSanitizer is clean.',
  )

  r.prompt('Last question, no change: would -O3 -march=native buy us anything?')
  await r.bash(
    'for f in "-O2" "-O3" "-O3 -march=native"; do g++ -std=c++17 $f -Isrc -o build/try bench/main.cpp src/*.cpp && echo "== $f" && ./build/try 400000 | grep ms; done',
    { description: 'Bench with three flag sets', timeoutMs: 180_000 },
  )
  await r.bash('git status --short', { description: 'Nothing changed' })
  r.end(
    'No: the differences at 400,000 ticks are within noise, the replay is bound by memory and parsing. I would stay with -O2, because -march=native binaries built on the CI host would not run on the older replay machines.',
  )
}

export const facts: { ask: string; expect: string[] }[] = [
  { ask: 'What made the window quadratic?', expect: ['erase(begin())', 'Window'] },
  { ask: 'Was the CSV parser the bottleneck?', expect: ['parser', 'harmless'] },
  { ask: 'Why did the running sums fail?', expect: ['double', 'drift'] },
  { ask: 'Why integers and not Kahan summation?', expect: ['Kahan', 'price_e4'] },
  { ask: 'How many element moves before and after?', expect: ['300019999', '16368'] },
  { ask: 'How many allocations does the parser make now?', expect: ['17 allocations'] },
  { ask: 'Why did max jump become absurd?', expect: ['heap-use-after-free', 'last_', 'grow'] },
  { ask: 'How was the dangling pointer fixed?', expect: ['copy', 'optional'] },
  { ask: 'Which test covers the dangling pointer?', expect: ['jump_survives_growing_and_evicting'] },
  { ask: 'Why not -march=native?', expect: ['-march=native', '-O2', 'older'] },
]
