@testable import Core
import Testing

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
