import type { Recorder } from '../../recorder.ts'
import { startProject } from './lib/project.ts'

export const project = 'ledgerly'

/** Java and Spring: double refunds under load, a lazy collection outside its transaction, a pool that runs dry. Maven is played. */

const pom = `<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <parent>
    <groupId>org.springframework.boot</groupId>
    <artifactId>spring-boot-starter-parent</artifactId>
    <version>3.2.5</version>
  </parent>
  <groupId>io.ledgerly</groupId>
  <artifactId>ledgerly</artifactId>
  <version>1.14.0-SNAPSHOT</version>
  <properties>
    <java.version>21</java.version>
  </properties>
  <dependencies>
    <dependency>
      <groupId>org.springframework.boot</groupId>
      <artifactId>spring-boot-starter-web</artifactId>
    </dependency>
    <dependency>
      <groupId>org.springframework.boot</groupId>
      <artifactId>spring-boot-starter-data-jpa</artifactId>
    </dependency>
    <dependency>
      <groupId>org.testcontainers</groupId>
      <artifactId>postgresql</artifactId>
      <version>1.19.7</version>
      <scope>test</scope>
    </dependency>
  </dependencies>
</project>
`

const payment = `package io.ledgerly.payments;

import jakarta.persistence.CascadeType;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.OneToMany;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

@Entity
public class Payment {
  @Id private UUID id;
  private BigDecimal amount;
  private BigDecimal refunded = BigDecimal.ZERO;

  @OneToMany(mappedBy = "payment", cascade = CascadeType.ALL)
  private List<Refund> refunds = new ArrayList<>();

  protected Payment() {}

  public Payment(UUID id, BigDecimal amount) {
    this.id = id;
    this.amount = amount;
  }

  public Refund refund(BigDecimal value, String reason) {
    if (refunded.add(value).compareTo(amount) > 0) {
      throw new RefundExceedsPayment(id, value);
    }
    refunded = refunded.add(value);
    Refund refund = new Refund(this, value, reason);
    refunds.add(refund);
    return refund;
  }

  public UUID getId() {
    return id;
  }

  public BigDecimal getRefunded() {
    return refunded;
  }

  public List<Refund> getRefunds() {
    return refunds;
  }
}
`

const service = `package io.ledgerly.payments;

import io.ledgerly.gateway.GatewayClient;
import java.math.BigDecimal;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

@Service
public class RefundService {
  private static final Logger log = LoggerFactory.getLogger(RefundService.class);

  private final PaymentRepository payments;
  private final GatewayClient gateway;

  public RefundService(PaymentRepository payments, GatewayClient gateway) {
    this.payments = payments;
    this.gateway = gateway;
  }

  @Transactional
  public Refund refund(UUID paymentId, BigDecimal value, String reason) {
    Payment payment = payments.findById(paymentId).orElseThrow(() -> new PaymentNotFound(paymentId));
    Refund refund = payment.refund(value, reason);
    gateway.refund(paymentId, value);
    log.info("refunded {} of payment {}", value, paymentId);
    return refund;
  }
}
`

const controller = `package io.ledgerly.payments;

import java.math.BigDecimal;
import java.util.List;
import java.util.UUID;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.*;

@RestController
@RequestMapping("/payments/{id}/refunds")
public class RefundController {
  private final RefundService service;
  private final PaymentRepository payments;

  public RefundController(RefundService service, PaymentRepository payments) {
    this.service = service;
    this.payments = payments;
  }

  public record RefundRequest(BigDecimal value, String reason) {}

  public record RefundView(UUID id, BigDecimal value) {}

  @PostMapping
  @ResponseStatus(HttpStatus.CREATED)
  public RefundView create(@PathVariable UUID id, @RequestBody RefundRequest request) {
    Refund refund = service.refund(id, request.value(), request.reason());
    return new RefundView(refund.getId(), refund.getValue());
  }

  @GetMapping
  public List<RefundView> list(@PathVariable UUID id) {
    return payments.findById(id).orElseThrow(() -> new PaymentNotFound(id)).getRefunds().stream()
        .map(r -> new RefundView(r.getId(), r.getValue()))
        .toList();
  }
}
`

const gatewayClient = `package io.ledgerly.gateway;

import java.math.BigDecimal;
import java.util.Map;
import java.util.UUID;
import org.springframework.stereotype.Component;
import org.springframework.web.client.RestClient;

@Component
public class GatewayClient {
  private final RestClient http;

  public GatewayClient(RestClient.Builder builder) {
    this.http = builder.baseUrl("https://api.paygrid.example").build();
  }

  public void refund(UUID paymentId, BigDecimal value) {
    http.post().uri("/v2/refunds").body(Map.of("payment", paymentId, "value", value)).retrieve().toBodilessEntity();
  }
}
`

const serviceTest = `package io.ledgerly.payments;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ledgerly.PostgresTest;
import io.ledgerly.gateway.GatewayClient;
import java.math.BigDecimal;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.mock.mockito.MockBean;

class RefundServiceTest extends PostgresTest {
  @Autowired RefundService service;
  @Autowired PaymentRepository payments;
  @MockBean GatewayClient gateway;

  @Test
  void refundsPartOfAPayment() {
    Payment payment = payments.save(new Payment(UUID.randomUUID(), new BigDecimal("50.00")));
    service.refund(payment.getId(), new BigDecimal("20.00"), "damaged");
    assertThat(payments.findById(payment.getId()).orElseThrow().getRefunded()).isEqualByComparingTo("20.00");
  }

  @Test
  void refusesMoreThanWasPaid() {
    Payment payment = payments.save(new Payment(UUID.randomUUID(), new BigDecimal("50.00")));
    assertThatThrownBy(() -> service.refund(payment.getId(), new BigDecimal("50.01"), "late"))
        .isInstanceOf(RefundExceedsPayment.class);
  }
}
`

const applicationYml = `spring:
  datasource:
    url: jdbc:postgresql://\${DB_HOST:localhost}:5432/ledgerly
    username: ledgerly
    password: \${DB_PASSWORD}
    hikari:
      maximum-pool-size: 10
      connection-timeout: 30000
  jpa:
    open-in-view: true
    hibernate:
      ddl-auto: validate
  flyway:
    enabled: true
server:
  port: 8091
`

function mvn(results: string, tail: string): string {
  return `[INFO] Scanning for projects...
[INFO] 
[INFO] -------------------------< io.ledgerly:ledgerly >-------------------------
[INFO] Building ledgerly 1.14.0-SNAPSHOT
[INFO] --- surefire:3.1.2:test (default-test) @ ledgerly ---
[INFO] -------------------------------------------------------
[INFO]  T E S T S
[INFO] -------------------------------------------------------
${results}
${tail}`
}

const success = (total: string) => `[INFO] ------------------------------------------------------------------------
[INFO] \u001b[1;32mBUILD SUCCESS\u001b[m
[INFO] ------------------------------------------------------------------------
[INFO] Total time:  ${total} s`

const failure = (
  total: string,
  why: string,
) => `[INFO] ------------------------------------------------------------------------
[INFO] \u001b[1;31mBUILD FAILURE\u001b[m
[INFO] ------------------------------------------------------------------------
[INFO] Total time:  ${total} s
[ERROR] ${why}`

export default async function (r: Recorder): Promise<void> {
  startProject(
    r,
    {
      'pom.xml': pom,
      'src/main/java/io/ledgerly/payments/Payment.java': payment,
      'src/main/java/io/ledgerly/payments/Refund.java': `package io.ledgerly.payments;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.ManyToOne;
import java.math.BigDecimal;
import java.util.UUID;

@Entity
public class Refund {
  @Id private UUID id = UUID.randomUUID();
  @ManyToOne private Payment payment;
  private BigDecimal value;
  private String reason;

  protected Refund() {}

  Refund(Payment payment, BigDecimal value, String reason) {
    this.payment = payment;
    this.value = value;
    this.reason = reason;
  }

  public UUID getId() {
    return id;
  }

  public BigDecimal getValue() {
    return value;
  }
}
`,
      'src/main/java/io/ledgerly/payments/RefundService.java': service,
      'src/main/java/io/ledgerly/payments/RefundController.java': controller,
      'src/main/java/io/ledgerly/payments/PaymentRepository.java': `package io.ledgerly.payments;

import java.util.UUID;
import org.springframework.data.jpa.repository.JpaRepository;

public interface PaymentRepository extends JpaRepository<Payment, UUID> {}
`,
      'src/main/java/io/ledgerly/gateway/GatewayClient.java': gatewayClient,
      'src/main/resources/application.yml': applicationYml,
      'src/main/resources/db/migration/V1__payments.sql':
        'create table payment (\n  id uuid primary key,\n  amount numeric(12, 2) not null,\n  refunded numeric(12, 2) not null default 0\n);\n\ncreate table refund (\n  id uuid primary key,\n  payment_id uuid not null references payment (id),\n  value numeric(12, 2) not null,\n  reason text\n);\n',
      'src/test/java/io/ledgerly/payments/RefundServiceTest.java': serviceTest,
      'src/test/java/io/ledgerly/payments/PaymentTest.java': `package io.ledgerly.payments;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.util.UUID;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;

class PaymentTest {
  @ParameterizedTest
  @CsvFileSource(resources = "/payments.csv")
  void startsWithoutRefunds(BigDecimal amount) {
    Payment payment = new Payment(UUID.randomUUID(), amount);
    assertThat(payment.getRefunded()).isZero();
    assertThat(payment.getRefunds()).isEmpty();
  }
}
`,
      'src/test/resources/payments.csv': `${Array.from({ length: 17 }, (_, i) => `${i * 13}.50`).join('\n')}\n`,
    },
    { author: 'Chidi Okafor', commits: ['Payments and refunds', 'Gateway client for PayGrid', 'Refund list endpoint'] },
  )

  r.prompt(
    'INC-2291: on Tuesday seven customers got the same refund twice. The button was clicked once, our frontend retries on timeout. Find out how Payment.refund lets that through although it checks the amount, and fix it. Please a test that shows it first.',
  )
  await r.glob('src/**/*.java')
  await r.read('src/main/java/io/ledgerly/payments/RefundService.java')
  await r.read('src/main/java/io/ledgerly/payments/Payment.java')
  await r.read('src/main/java/io/ledgerly/payments/RefundController.java')
  await r.grep('@Version|@Lock|PESSIMISTIC|synchronized', { path: 'src/main' })
  await r.read('src/test/java/io/ledgerly/payments/RefundServiceTest.java')
  r.mcp(
    'mcp__sentry__get_issue',
    { issue: 'LEDGERLY-4F' },
    'LEDGERLY-4F ResourceAccessException: I/O error on POST request for "https://api.paygrid.example/v2/refunds": Read timed out\n7 events, first seen Tue 14:02:11, each followed by a successful POST of the same payment within 3 s\nrelease ledgerly@1.13.2',
  )
  r.say(
    'Two requests for one payment read refunded = 0 at the same time; neither sees the other, both pass the check, the last write wins. There is no version and no lock on Payment. A test with two threads shows it.',
  )
  await r.edit(
    'src/test/java/io/ledgerly/payments/RefundServiceTest.java',
    '  @Test\n  void refusesMoreThanWasPaid() {',
    `  @Test
  void twoRefundsAtOnceDoNotExceedThePayment() throws Exception {
    Payment payment = payments.save(new Payment(UUID.randomUUID(), new BigDecimal("50.00")));
    CountDownLatch inGateway = new CountDownLatch(2);
    doAnswer(call -> {
      inGateway.countDown();
      inGateway.await(2, TimeUnit.SECONDS);
      return null;
    }).when(gateway).refund(any(), any());
    try (ExecutorService pool = Executors.newFixedThreadPool(2)) {
      Callable<Refund> once = () -> service.refund(payment.getId(), new BigDecimal("40.00"), "twice");
      List<Future<Refund>> both = pool.invokeAll(List.of(once, once));
      assertThat(both.stream().filter(f -> f.state() == Future.State.SUCCESS)).hasSize(1);
    }
    verify(gateway, times(1)).refund(any(), any());
  }

  @Test
  void refusesMoreThanWasPaid() {`,
  )
  await r.edit(
    'src/test/java/io/ledgerly/payments/RefundServiceTest.java',
    'import java.util.UUID;\n',
    'import java.util.List;\nimport java.util.UUID;\nimport java.util.concurrent.*;\n',
  )
  await r.edit(
    'src/test/java/io/ledgerly/payments/RefundServiceTest.java',
    'import static org.assertj.core.api.Assertions.assertThatThrownBy;\n',
    'import static org.assertj.core.api.Assertions.assertThatThrownBy;\nimport static org.mockito.ArgumentMatchers.any;\nimport static org.mockito.Mockito.*;\n',
  )
  await r.bash('mvn test -Dtest=RefundServiceTest', {
    description: 'Run the refund tests',
    stdoutOverride: mvn(
      `[INFO] Running io.ledgerly.payments.RefundServiceTest
[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 9.71 s <<< FAILURE! -- in io.ledgerly.payments.RefundServiceTest
[ERROR] io.ledgerly.payments.RefundServiceTest.twoRefundsAtOnceDoNotExceedThePayment -- Time elapsed: 0.402 s <<< FAILURE!
java.lang.AssertionError: 

Expected size: 1 but was: 2 in:
[Future@1f0a3c[Completed normally], Future@5b77d0[Completed normally]]
	at io.ledgerly.payments.RefundServiceTest.twoRefundsAtOnceDoNotExceedThePayment(RefundServiceTest.java:49)
	at java.base/java.lang.reflect.Method.invoke(Method.java:580)`,
      failure('18.204', 'There are test failures.'),
    ),
    exitCode: 1,
  })
  r.say('Reproduced. First idea: optimistic locking with @Version.')
  await r.edit(
    'src/main/java/io/ledgerly/payments/Payment.java',
    '  @Id private UUID id;\n',
    '  @Id private UUID id;\n  @Version private long version;\n',
  )
  await r.edit(
    'src/main/java/io/ledgerly/payments/Payment.java',
    'import jakarta.persistence.OneToMany;\n',
    'import jakarta.persistence.OneToMany;\nimport jakarta.persistence.Version;\n',
  )
  await r.write(
    'src/main/resources/db/migration/V2__payment_version.sql',
    'alter table payment add column version bigint not null default 0;\n',
  )
  await r.bash('mvn test -Dtest=RefundServiceTest', {
    description: 'Run the refund tests',
    stdoutOverride: mvn(
      `[INFO] Running io.ledgerly.payments.RefundServiceTest
[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 9.44 s <<< FAILURE! -- in io.ledgerly.payments.RefundServiceTest
[ERROR] io.ledgerly.payments.RefundServiceTest.twoRefundsAtOnceDoNotExceedThePayment -- Time elapsed: 0.377 s <<< FAILURE!
org.mockito.exceptions.verification.TooManyActualInvocations: 

gatewayClient.refund(<any>, <any>);
Wanted 1 time:
-> at io.ledgerly.payments.RefundServiceTest.twoRefundsAtOnceDoNotExceedThePayment(RefundServiceTest.java:51)
But was 2 times:
-> at io.ledgerly.payments.RefundService.refund(RefundService.java:27)
-> at io.ledgerly.payments.RefundService.refund(RefundService.java:27)`,
      failure('17.902', 'There are test failures.'),
    ),
    exitCode: 1,
  })
  r.say(
    'As the test says: with @Version the second transaction fails at commit, but by then the gateway was already called twice. The money moves before the conflict is seen. The row has to be locked before the gateway call.',
  )
  await r.bash(
    'git checkout src/main/java/io/ledgerly/payments/Payment.java && rm src/main/resources/db/migration/V2__payment_version.sql && git status --short',
    {
      description: 'Take the version column back',
    },
  )
  await r.write(
    'src/main/java/io/ledgerly/payments/PaymentRepository.java',
    `package io.ledgerly.payments;

import jakarta.persistence.LockModeType;
import java.util.Optional;
import java.util.UUID;
import org.springframework.data.jpa.repository.JpaRepository;
import org.springframework.data.jpa.repository.Lock;
import org.springframework.data.jpa.repository.Query;

public interface PaymentRepository extends JpaRepository<Payment, UUID> {
  /** Row lock until the transaction ends: the gateway must not be called twice for one payment. */
  @Lock(LockModeType.PESSIMISTIC_WRITE)
  @Query("select p from Payment p where p.id = :id")
  Optional<Payment> findForRefund(UUID id);
}
`,
  )
  await r.edit(
    'src/main/java/io/ledgerly/payments/RefundService.java',
    'payments.findById(paymentId)',
    'payments.findForRefund(paymentId)',
  )
  await r.bash('mvn test -Dtest=RefundServiceTest', {
    description: 'Run the refund tests',
    stdoutOverride: mvn(
      `[INFO] Running io.ledgerly.payments.RefundServiceTest
[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 11.62 s -- in io.ledgerly.payments.RefundServiceTest`,
      success('19.871'),
    ),
  })
  r.say(
    'Two different partial refunds are safe now. But the retry of the same click with a small value would still go through twice, so the request needs an idempotency key.',
  )
  await r.grep('Idempotency', { path: '.', '-i': true })
  r.webFetch(
    'https://docs.paygrid.example/v2/refunds',
    'Does PayGrid support idempotency keys for refunds, under which header, how long are they kept?',
    'POST /v2/refunds accepts the header Idempotency-Key (max 64 characters). A repeated request with the same key within 24 hours returns the first result and does not move money again. A different body under the same key is answered with 422.',
  )
  await r.write(
    'src/main/resources/db/migration/V2__refund_key.sql',
    'alter table refund add column request_key varchar(64);\ncreate unique index refund_request_key on refund (payment_id, request_key);\n',
  )
  await r.multiEdit('src/main/java/io/ledgerly/payments/Refund.java', [
    {
      old_string: '  private String reason;\n',
      new_string: '  private String reason;\n  private String requestKey;\n',
    },
    {
      old_string: '  Refund(Payment payment, BigDecimal value, String reason) {',
      new_string: '  Refund(Payment payment, BigDecimal value, String reason, String requestKey) {',
    },
    {
      old_string: '    this.reason = reason;\n',
      new_string: '    this.reason = reason;\n    this.requestKey = requestKey;\n',
    },
    {
      old_string: '  public BigDecimal getValue() {',
      new_string: '  public String getRequestKey() {\n    return requestKey;\n  }\n\n  public BigDecimal getValue() {',
    },
  ])
  await r.multiEdit('src/main/java/io/ledgerly/payments/Payment.java', [
    {
      old_string: '  public Refund refund(BigDecimal value, String reason) {\n',
      new_string: `  public Optional<Refund> refundFor(String requestKey) {
    return refunds.stream().filter(r -> requestKey.equals(r.getRequestKey())).findFirst();
  }

  public Refund refund(BigDecimal value, String reason, String requestKey) {
`,
    },
    { old_string: 'new Refund(this, value, reason)', new_string: 'new Refund(this, value, reason, requestKey)' },
    { old_string: 'import java.util.List;\n', new_string: 'import java.util.List;\nimport java.util.Optional;\n' },
  ])
  await r.multiEdit('src/main/java/io/ledgerly/payments/RefundService.java', [
    {
      old_string: '  public Refund refund(UUID paymentId, BigDecimal value, String reason) {',
      new_string: '  public Refund refund(UUID paymentId, BigDecimal value, String reason, String requestKey) {',
    },
    {
      old_string: '    Refund refund = payment.refund(value, reason);\n    gateway.refund(paymentId, value);\n',
      new_string: `    Optional<Refund> earlier = payment.refundFor(requestKey);
    if (earlier.isPresent()) {
      log.info("refund {} of payment {} was requested again", requestKey, paymentId);
      return earlier.get();
    }
    Refund refund = payment.refund(value, reason, requestKey);
    gateway.refund(paymentId, value, requestKey);
`,
    },
    { old_string: 'import java.util.UUID;\n', new_string: 'import java.util.Optional;\nimport java.util.UUID;\n' },
  ])
  await r.multiEdit('src/main/java/io/ledgerly/gateway/GatewayClient.java', [
    {
      old_string: 'refund(UUID paymentId, BigDecimal value) {',
      new_string: 'refund(UUID paymentId, BigDecimal value, String requestKey) {',
    },
    {
      old_string: '.uri("/v2/refunds").body',
      new_string: '.uri("/v2/refunds").header("Idempotency-Key", requestKey).body',
    },
  ])
  await r.edit(
    'src/main/java/io/ledgerly/payments/RefundController.java',
    `  public RefundView create(@PathVariable UUID id, @RequestBody RefundRequest request) {
    Refund refund = service.refund(id, request.value(), request.reason());`,
    `  public RefundView create(
      @PathVariable UUID id,
      @RequestHeader("Idempotency-Key") String requestKey,
      @RequestBody RefundRequest request) {
    Refund refund = service.refund(id, request.value(), request.reason(), requestKey);`,
  )
  await r.bash('mvn compile test-compile', {
    description: 'Compile',
    stdoutOverride: `[ERROR] COMPILATION ERROR : 
[ERROR] /home/dev/ledgerly/src/test/java/io/ledgerly/payments/RefundServiceTest.java:[30,12] method refund in class io.ledgerly.payments.RefundService cannot be applied to given types;
  required: java.util.UUID,java.math.BigDecimal,java.lang.String,java.lang.String
  found:    java.util.UUID,java.math.BigDecimal,java.lang.String
  reason: actual and formal argument lists differ in length`,
    exitCode: 1,
  })
  await r.bash(
    `sed -i 's/"damaged")/"damaged", "k1")/; s/"late")/"late", "k2")/; s/"twice")/"twice", UUID.randomUUID().toString())/; s/refund(any(), any())/refund(any(), any(), any())/' src/test/java/io/ledgerly/payments/RefundServiceTest.java && grep -n 'refund(' src/test/java/io/ledgerly/payments/RefundServiceTest.java`,
    { description: 'Give the tests keys' },
  )
  await r.edit(
    'src/test/java/io/ledgerly/payments/RefundServiceTest.java',
    '  @Test\n  void refusesMoreThanWasPaid() {',
    `  @Test
  void sameKeyIsRefundedOnce() {
    Payment payment = payments.save(new Payment(UUID.randomUUID(), new BigDecimal("50.00")));
    Refund first = service.refund(payment.getId(), new BigDecimal("5.00"), "retry", "click-1");
    Refund again = service.refund(payment.getId(), new BigDecimal("5.00"), "retry", "click-1");
    assertThat(again.getId()).isEqualTo(first.getId());
    verify(gateway, times(1)).refund(any(), any(), any());
  }

  @Test
  void refusesMoreThanWasPaid() {`,
  )
  await r.bash('mvn test', {
    description: 'Run all tests',
    stdoutOverride: mvn(
      `[INFO] Running io.ledgerly.payments.RefundServiceTest
[INFO] Tests run: 4, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 11.90 s -- in io.ledgerly.payments.RefundServiceTest
[INFO] Running io.ledgerly.payments.PaymentTest
[INFO] Tests run: 17, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.21 s -- in io.ledgerly.payments.PaymentTest
[INFO] 
[INFO] Tests run: 21, Failures: 0, Errors: 0, Skipped: 0`,
      success('24.336'),
    ),
  })
  await r.bash(
    `git add -A && git commit -F - <<'MSG'
INC-2291: refund a payment once

Lock the payment row (PESSIMISTIC_WRITE) before the gateway is called. Optimistic
locking with @Version was tried and rejected: the conflict shows only at commit,
when PayGrid has already moved the money twice. Retries of one click carry an
Idempotency-Key, unique per payment, which is also passed on to PayGrid.
MSG`,
    { description: 'Commit the fix' },
  )
  r.end(
    'INC-2291 was a lost update: two requests read the same `refunded` value, both passed the check, both called PayGrid. `findForRefund` now takes a PESSIMISTIC_WRITE lock before the gateway call. I tried `@Version` first, but the conflict shows only at commit, after the money has moved. Retries carry an `Idempotency-Key` (migration `V2__refund_key`). 21 tests pass. The frontend must send that header, otherwise it gets a 400.',
  )

  r.prompt(
    'Deployed to staging. Now GET refunds gives 500 there, works locally. Stack trace: org.hibernate.LazyInitializationException: failed to lazily initialize a collection of role: io.ledgerly.payments.Payment.refunds: could not initialize proxy - no Session at io.ledgerly.payments.RefundController.list(RefundController.java:41)',
  )
  await r.read('src/main/java/io/ledgerly/payments/RefundController.java', { offset: 30, limit: 20 })
  await r.bash('cat src/main/resources/application.yml', { description: 'Settings' })
  await r.bash('kubectl -n staging get configmap ledgerly -o yaml | grep -i -A2 jpa', {
    description: 'Settings on staging',
    stdoutOverride: '  SPRING_JPA_OPEN_IN_VIEW: "false"\n  SPRING_DATASOURCE_HIKARI_MAXIMUM_POOL_SIZE: "10"',
  })
  r.say(
    'Staging sets SPRING_JPA_OPEN_IN_VIEW=false, locally it is true. The controller walks a lazy collection outside any transaction, so it only worked by open-in-view.',
  )
  await r.edit(
    'src/main/java/io/ledgerly/payments/PaymentRepository.java',
    '  /** Row lock',
    `  @Query("select p from Payment p left join fetch p.refunds where p.id = :id")
  Optional<Payment> findWithRefunds(UUID id);

  /** Row lock`,
  )
  await r.edit(
    'src/main/java/io/ledgerly/payments/RefundController.java',
    'payments.findById(id)',
    'payments.findWithRefunds(id)',
  )
  await r.edit('src/main/resources/application.yml', '    open-in-view: true\n', '    open-in-view: false\n')
  await r.bash('mvn test', {
    description: 'Run all tests',
    stdoutOverride: mvn('[INFO] Tests run: 21, Failures: 0, Errors: 0, Skipped: 0', success('23.870')),
  })
  await r.bash('git commit -am "List refunds with a fetch join, open-in-view off everywhere as on staging"', {
    description: 'Commit',
  })
  r.end(
    'The LazyInitializationException came from `RefundController.list`, which read `Payment.refunds` without a session: staging sets open-in-view to false, local had true. `findWithRefunds` fetches them in one query, and open-in-view is false locally too so that this shows before staging.',
  )

  r.prompt(
    'One worry: the row lock is held during the PayGrid call. What happens to our pool when PayGrid is slow? No code now, just think it through with the numbers we have.',
  )
  await r.grep('hikari', { path: 'src/main/resources', output_mode: 'content', '-A': 3 })
  await r.grep('[tT]imeout', { path: 'src/main', output_mode: 'content', '-n': true })
  r.mcp(
    'mcp__grafana__query_prometheus',
    { expr: 'histogram_quantile(0.99, paygrid_request_seconds_bucket)', range: '7d' },
    'p50 0.31 s, p99 2.8 s, max 61 s (Tue 14:02)',
  )
  r.end(
    'Each refund holds one of 10 Hikari connections for the whole PayGrid call. At p99 of 2.8 s the pool gives about 3.5 refunds per second, enough for today. But GatewayClient has no read timeout; Tuesday had calls of 61 s, then ten slow refunds block every request and others fail after the connection-timeout of 30 s. Recommended next: a read timeout of 5 s in GatewayClient, later an outbox so that no transaction waits for PayGrid.',
  )
}

export const facts: { ask: string; expect: string[] }[] = [
  { ask: 'How could one payment be refunded twice (INC-2291)?', expect: ['INC-2291', 'lost update'] },
  { ask: 'Which lock prevents double refunds?', expect: ['PESSIMISTIC_WRITE', 'findForRefund'] },
  { ask: 'Why was @Version rejected?', expect: ['@Version', 'commit'] },
  { ask: 'How are retries of one click recognised?', expect: ['Idempotency-Key', 'PayGrid'] },
  { ask: 'Which migration belongs to it?', expect: ['V2__refund_key'] },
  { ask: 'Which test shows the race?', expect: ['twoRefundsAtOnceDoNotExceedThePayment'] },
  { ask: 'How many tests pass after the fix?', expect: ['21', 'tests', 'refund'] },
  { ask: 'Why did listing refunds fail on staging only?', expect: ['LazyInitializationException', 'open-in-view'] },
  { ask: 'How was the lazy loading fixed?', expect: ['findWithRefunds', 'fetch'] },
  { ask: 'What is the risk of the lock during a slow PayGrid call?', expect: ['Hikari', '2.8 s', 'timeout'] },
]
