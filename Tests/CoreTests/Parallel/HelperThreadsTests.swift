import Synchronization
import TestSupport
import Testing

@testable import Core

@Suite("Threads that help")
struct HelperThreadsTests {
  @Test("Every piece is done once, whoever does it", arguments: [0, 1, 2, 7, 1000])
  func once(count: Int) {
    let done = Mutex([Int](repeating: 0, count: count))
    HelperThreads.perform(count, atOnce: 4) { piece, _ in done.withLock { $0[piece] += 1 } }
    #expect(done.withLock { $0 } == [Int](repeating: 1, count: count))
  }

  @Test("Pieces that ask for help themselves come to their end")
  func nested() {
    let sum = Atomic<Int>(0)
    HelperThreads.perform(8, atOnce: 4) { _, _ in
      HelperThreads.perform(8, atOnce: 4) { piece, _ in
        sum.add(piece, ordering: .relaxed)
      }
    }
    #expect(sum.load(ordering: .relaxed) == 8 * 28)
  }

  @Test("Several threads take part, and more when they are requested meanwhile")
  func widening() {
    let inside = Mutex((now: 0, most: 0))
    // The first piece waits until a second one is done beside it: only a helper can do that.
    let isMet = Mutex(false)
    HelperThreads.perform(2, atOnce: 1) { piece, crew in
      inside.withLock {
        $0.now += 1
        $0.most = max($0.most, $0.now)
      }
      if piece == 0 {
        crew.widen(to: 2)
        Waiting.until("the second piece") { isMet.withLock { $0 } }
      } else {
        isMet.withLock { $0 = true }
      }
      inside.withLock { $0.now -= 1 }
    }
    #expect(inside.withLock { $0.most } == 2)
  }

  @Test("A crew has one thread from the beginning and grows when all are at work")
  func crew() throws {
    let crew = try #require(ThreadPool())
    let mailbox = Mailbox<Int>()
    let gate = Mailbox<Bool>()
    #expect(crew.start { mailbox.put(gate.take() ? 1 : 0) })
    #expect(crew.start { mailbox.put(2) })
    #expect(mailbox.take() == 2)
    gate.put(true)
    #expect(mailbox.take() == 1)
  }
}

@Suite("Concurrent map")
struct ConcurrentMapTests {
  struct Failure: Error, Equatable {
    var index: Int
  }

  @Test("Results are in order, whatever order they were made in", arguments: [0, 1, 2, 7, 1000])
  func order(count: Int) throws {
    let expected = (0..<count).map { $0 * $0 }
    #expect(try concurrentMap(count: count) { $0 * $0 } == expected)
    #expect(
      try concurrentMap(count: count, budget: CoreBudget(cores: 1)) { $0 * $0 } == expected)
  }

  @Test("Every iteration runs; the error with the lowest index is thrown", arguments: 0..<20)
  func errors(first: Int) {
    let ran = Mutex<Set<Int>>([])
    let error = #expect(throws: Failure.self) {
      try concurrentMap(count: 100) { index -> Int in
        ran.withLock { _ = $0.insert(index) }
        if index >= first, index.isMultiple(of: 3) || index == first { throw Failure(index: index) }
        return index
      }
    }
    #expect(error == Failure(index: first))
    #expect(ran.withLock { $0.count } == 100)
  }

  @Test("Results that are objects are released once")
  func objects() throws {
    final class Counted: Sendable {
      static let alive = Mutex(0)
      init() { Self.alive.withLock { $0 += 1 } }
      deinit { Self.alive.withLock { $0 -= 1 } }
    }
    do {
      let all = try concurrentMap(count: 50) { _ in Counted() }
      #expect(all.count == 50)
      withExtendedLifetime(all) { #expect(Counted.alive.withLock { $0 } == 50) }
    }
    #expect(Counted.alive.withLock { $0 } == 0)
  }
}

@Suite("Row bands")
struct RowBandTests {
  @Test(
    "Bands cover every row once, in rows of any length and number",
    arguments: [0, 1, 2, 3, 7, 16, 61], [0, 1, 2, 5, 64])
  func cover(rows: Int, bands: Int) {
    for rowLength in [0, 1, 5, 33] {
      // Longer than the picture: what is behind it stays.
      var array = [Int32](repeating: 0, count: rows * rowLength + 9)
      let ranges = Mutex<[Range<Int>]>([])
      withConcurrentRowBands(of: &array, rows: rows, rowLength: rowLength, bands: bands) {
        range, elements in
        ranges.withLock { $0.append(range) }
        if elements.count != range.count * rowLength { Issue.record("band of wrong size") }
        for index in elements.indices {
          elements[index] &+= Int32(truncatingIfNeeded: range.lowerBound * rowLength + index + 1)
        }
      }
      let count = rows * rowLength
      #expect(Array(array[..<count]) == (0..<count).map { Int32($0 + 1) })
      #expect(array[count...].allSatisfy { $0 == 0 })

      let sorted = ranges.withLock { $0 }.sorted { $0.lowerBound < $1.lowerBound }
      #expect(sorted.count == max(1, min(bands, rows)))
      #expect(sorted.flatMap { Array($0) } == Array(0..<rows))
      let lengths = sorted.map(\.count)
      #expect((lengths.max() ?? 0) - (lengths.min() ?? 0) <= 1)
    }
  }
}

@Suite("Mailboxes")
struct MailboxTests {
  @Test("Messages of one sender come in order, and all of them come")
  func order() {
    let mailbox = Mailbox<(sender: Int, number: Int)>()
    for sender in 0..<4 {
      _ = JobThread.start { for number in 0..<500 { mailbox.put((sender, number)) } }
    }
    var next = [0, 0, 0, 0]
    for _ in 0..<2_000 {
      let message = mailbox.take()
      #expect(message.number == next[message.sender])
      next[message.sender] += 1
    }
    #expect(next == [500, 500, 500, 500])
    #expect(mailbox.take(withinSeconds: 0) == nil)
  }

  @Test("A message that is there is taken without waiting, one that comes late is waited for")
  func waiting() {
    let mailbox = Mailbox<String>()
    #expect(mailbox.take(withinSeconds: 0.001) == nil)
    mailbox.put("one")
    #expect(mailbox.take(withinSeconds: 0) == "one")
    let other = Mailbox<String>()
    _ = JobThread.start {
      other.put("go")
      mailbox.put("two")
    }
    #expect(other.take() == "go")
    #expect(mailbox.take() == "two")
  }

  @Test("A job thread runs its work once and lets go of it")
  func thread() {
    let done = Mailbox<Int>()
    for number in 0..<50 { _ = JobThread.start { done.put(number) } }
    #expect(Set((0..<50).map { _ in done.take() }) == Set(0..<50))
  }
}
