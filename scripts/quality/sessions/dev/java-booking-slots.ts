/** Java with javac: double bookings, a time zone trap, a subagent that looks around, a long session with much reading. */
import { changelog, javaClass } from '../../material.ts'
import type { Recorder } from '../../recorder.ts'
import type { Fact } from '../../scenario.ts'

export const project = 'clinic-slots'

export const facts: Fact[] = [
  { ask: 'Why could one slot be booked twice?', expect: ['SlotBook', 'synchronized'] },
  { ask: 'Which test shows the double booking?', expect: ['SlotBookTest'] },
  { ask: 'Why was ConcurrentHashMap.putIfAbsent chosen over a lock?', expect: ['putIfAbsent', 'lock'] },
  { ask: 'Why did slots shift by an hour at the end of March?', expect: ['ZoneOffset', 'daylight'] },
  { ask: 'Which zone are opening hours in?', expect: ['Europe/Helsinki'] },
  { ask: 'Which class makes the slots of a day?', expect: ['SlotPlanner', 'slotsOf'] },
  { ask: 'For which day were slots shown wrong?', expect: ['30 March', 'hour'] },
  { ask: 'What did the build complain about first?', expect: ['cannot find symbol'] },
  { ask: 'Which flag makes javac treat warnings as errors?', expect: ['-Werror'] },
  { ask: 'What should be done next?', expect: ['waiting list'] },
]

const BOOK = `package clinic;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

public class SlotBook {
    private final Map<String, String> patientBySlot = new HashMap<>();

    public boolean book(String slot, String patient) {
        if (patientBySlot.containsKey(slot)) return false;
        audit("book " + slot);
        patientBySlot.put(slot, patient);
        return true;
    }

    public Optional<String> patientOf(String slot) {
        return Optional.ofNullable(patientBySlot.get(slot));
    }

    private void audit(String text) {
        Thread.yield();
    }
}
`
const PLANNER = `package clinic;

import java.time.Duration;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;

public class SlotPlanner {
    static final Duration LENGTH = Duration.ofMinutes(20);
    static final ZoneOffset OFFSET = ZoneOffset.ofHours(2);

    public List<OffsetDateTime> slotsOf(LocalDate day, LocalTime opens, LocalTime closes) {
        List<OffsetDateTime> slots = new ArrayList<>();
        for (LocalTime at = opens; at.isBefore(closes); at = at.plus(LENGTH)) {
            slots.add(OffsetDateTime.of(day, at, OFFSET));
        }
        return slots;
    }
}
`
const BOOK_TEST = `package clinic;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

public class SlotBookTest {
    public static void main(String[] args) throws Exception {
        int doubles = 0;
        for (int round = 0; round < 300; round++) {
            SlotBook book = new SlotBook();
            AtomicInteger booked = new AtomicInteger();
            CountDownLatch go = new CountDownLatch(1);
            Thread[] threads = new Thread[8];
            for (int n = 0; n < threads.length; n++) {
                String patient = "p" + n;
                threads[n] = new Thread(() -> {
                    try {
                        go.await();
                    } catch (InterruptedException e) {
                        return;
                    }
                    if (book.book("09:00", patient)) booked.incrementAndGet();
                });
                threads[n].start();
            }
            go.countDown();
            for (Thread thread : threads) thread.join();
            if (booked.get() != 1) doubles++;
        }
        if (doubles > 0) throw new AssertionError("double bookings in some of 300 rounds");
        System.out.println("SlotBookTest: 300 rounds, no double booking");
    }
}
`
const BUILD = `#!/bin/sh
set -e
mkdir -p out
javac -Xlint:all -d out $(find src test -name '*.java')
for test in $(cd test && find . -name '*Test.java' | sed 's|^./||; s|/|.|g; s|.java$||' | sort); do
  java -cp out "$test"
done
echo "all tests passed"
`

export default async function (r: Recorder): Promise<void> {
  const modules = ['Calendar', 'Reminders', 'Patients', 'Rooms', 'Reports']
  r.files({
    'src/clinic/SlotBook.java': BOOK,
    'src/clinic/SlotPlanner.java': PLANNER,
    ...Object.fromEntries(
      modules.map((name, n) => [`src/clinic/office/${name}.java`, javaClass('clinic.office', name, 10 + n * 2)]),
    ),
    'test/clinic/PlannerTest.java':
      'package clinic;\n\nimport java.time.*;\n\npublic class PlannerTest {\n    public static void main(String[] args) {\n        var slots = new SlotPlanner().slotsOf(LocalDate.of(2026, 1, 12), LocalTime.of(9, 0), LocalTime.of(10, 0));\n        if (slots.size() != 3) throw new AssertionError("three slots an hour, got " + slots.size());\n        System.out.println("PlannerTest: ok");\n    }\n}\n',
    'build.sh': BUILD,
    'CHANGELOG.md': changelog(30),
    '.gitignore': 'out/\n',
  })
  r.shell('chmod +x build.sh && git init -q && git add -A && git commit -qm "clinic-slots 2.30"')

  r.prompt(
    'Two patients were booked into the same slot yesterday (room 4, 09:00). That must be impossible. Find the cause and fix it, with a test that shows it.',
  )
  await r.bash('ls -la && git log --oneline | head', { description: 'Look around' })
  await r.glob('**/*.java')
  await r.agent(
    {
      description: 'Find who books slots',
      prompt:
        'Find every place that books a slot or reads bookings, and tell me which class owns them and whether it is safe for threads.',
      type: 'Explore',
    },
    async (sub) => {
      await sub.grep('book\\(', { output_mode: 'content', '-n': true })
      for (const name of modules) await sub.read(`src/clinic/office/${name}.java`)
      await sub.read('src/clinic/SlotBook.java')
      return 'Only SlotBook.book in src/clinic/SlotBook.java writes bookings; the office classes never do. It uses a plain HashMap with a containsKey check followed by put and nothing is synchronized, so two threads can both pass the check.'
    },
  )
  await r.read('src/clinic/SlotBook.java')
  await r.read('build.sh')
  await r.read('CHANGELOG.md')
  await r.bash('./build.sh', { description: 'Build and test', timeoutMs: 120000 })
  r.todo([
    { content: 'Test that books from several threads', status: 'in_progress' },
    { content: 'Make booking atomic', status: 'pending' },
  ])
  await r.write('test/clinic/SlotBookTest.java', BOOK_TEST)
  await r.bash('./build.sh', { description: 'Build and test', timeoutMs: 120000 })
  r.say(
    'Reproduced: between containsKey and put another thread books the same slot. One atomic operation is enough, a lock would also hold up readers.',
  )
  await r.edit(
    'src/clinic/SlotBook.java',
    '    private final Map<String, String> patientBySlot = new HashMap<>();',
    '    private final Map<String, String> patientBySlot = new ConcurrentHashMap<>();',
  )
  await r.edit(
    'src/clinic/SlotBook.java',
    '        if (patientBySlot.containsKey(slot)) return false;\n        audit("book " + slot);\n        patientBySlot.put(slot, patient);\n        return true;\n',
    '        if (patientBySlot.putIfAbsent(slot, patient) != null) return false;\n        audit("book " + slot);\n        return true;\n',
  )
  await r.bash('./build.sh', { description: 'Build and test', timeoutMs: 120000 })
  await r.edit(
    'src/clinic/SlotBook.java',
    'import java.util.HashMap;\nimport java.util.Map;\nimport java.util.Optional;\n',
    'import java.util.Map;\nimport java.util.Optional;\nimport java.util.concurrent.ConcurrentHashMap;\n',
  )
  await r.bash('./build.sh', { description: 'Build and test', timeoutMs: 120000 })
  await r.bash('for i in 1 2 3; do java -cp out clinic.SlotBookTest; done', {
    description: 'Three more times',
    timeoutMs: 60000,
  })
  await r.bash(
    'git add -A && git commit -q -m "Book a slot at most once" -m "SlotBook checked and put in two steps, and nothing was synchronized. putIfAbsent does both at once; we use it instead of a lock because readers must not wait." && git status --short',
    { description: 'Commit' },
  )
  r.end('A slot can be booked only once now, and there is a test that failed before.')

  r.prompt(
    'Second thing: for 30 March the web page shows all slots one hour late. Opening hours are meant in Europe/Helsinki.',
  )
  await r.read('src/clinic/SlotPlanner.java')
  await r.grep('ZoneOffset|ZoneId', { output_mode: 'content', '-n': true })
  await r.read('test/clinic/PlannerTest.java')
  await r.read('src/clinic/office/Calendar.java')
  await r.read('src/clinic/office/Reports.java', { offset: 1, limit: 60 })
  await r.bash('cat CHANGELOG.md | head -40', { description: 'Was it changed lately?' })
  await r.edit(
    'test/clinic/PlannerTest.java',
    '        System.out.println("PlannerTest: ok");',
    '        var summer = new SlotPlanner().slotsOf(LocalDate.of(2026, 3, 30), LocalTime.of(9, 0), LocalTime.of(10, 0));\n        String first = summer.get(0).toInstant().toString();\n        if (!first.equals("2026-03-30T06:00:00Z")) throw new AssertionError("nine in Helsinki in summer, got " + first);\n        System.out.println("PlannerTest: ok");',
  )
  await r.bash('./build.sh', { description: 'Build and test', timeoutMs: 120000 })
  await r.multiEdit('src/clinic/SlotPlanner.java', [
    { old_string: 'import java.time.ZoneOffset;', new_string: 'import java.time.ZoneId;' },
    {
      old_string: '    static final ZoneOffset OFFSET = ZoneOffset.ofHours(2);',
      new_string: '    static final ZoneId ZONE = ZoneId.of("Europe/Helsinki");',
    },
    { old_string: 'OffsetDateTime.of(day, at, OFFSET)', new_string: 'day.atTime(at).atZone(ZONE).toOffsetDateTime()' },
  ])
  await r.bash('./build.sh', { description: 'Build and test', timeoutMs: 120000 })
  await r.edit('build.sh', 'javac -Xlint:all -d out', 'javac -Xlint:all -Werror -d out')
  await r.bash('./build.sh', { description: 'Build with warnings as errors', timeoutMs: 120000 })
  await r.bash('git diff --stat', { description: 'What changed' })
  await r.bash(
    'git add -A && git commit -q -m "Plan slots in Europe/Helsinki" -m "A fixed ZoneOffset of two hours ignores daylight saving time. Also build with -Werror." && git log --oneline | head -3',
    { description: 'Commit' },
  )
  r.end(
    'Slots follow daylight saving time. Next I would look at the waiting list: it still keeps plain strings without a zone.',
  )
}
