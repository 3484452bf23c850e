import Captures
import Pipeline
import Runner
import Storage
import SystemPackage
import Testing

@testable import Night

@Suite(
  "The book of what is in STAGING: states follow from looks and from a clock that only goes forward"
)
struct StagingBookTests {
  private static func settings() -> WatchSettings {
    var settings = WatchSettings()
    settings.settleSeconds = 60
    settings.patienceSeconds = 600
    return settings
  }

  private static func seen(
    _ name: String, _ text: String = "1", isTransferring: Bool = false, in folder: String = "/s"
  ) -> StagingSnapshot.Seen {
    StagingSnapshot.Seen(
      recognition: Recognition(
        family: .arkitScanner, certainty: .certain, folder: FilePath("\(folder)/\(name)"), id: name,
        reason: "test"),
      stamp: PlaceStamp(text: "\(name) \(text)", isTransferring: isTransferring),
      place: FolderPlace(device: 1, inode: 2))
  }

  private static func snapshot(_ seen: [StagingSnapshot.Seen]) -> StagingSnapshot {
    var snapshot = StagingSnapshot()
    snapshot.captures = seen
    snapshot.place = FolderPlace(device: 1, inode: 1)
    snapshot.isEmpty = seen.isEmpty
    return snapshot
  }

  private static func look(
    _ book: inout StagingBook, _ seen: [StagingSnapshot.Seen], at seconds: Double
  ) {
    book.take(
      snapshot(seen), nowSeconds: seconds, nowText: "\(seconds)",
      nearestPlace: { _ in FolderPlace(device: 1, inode: 1) })
  }

  private static func state(_ book: StagingBook, _ name: String = "a") -> CaptureState? {
    book.entries[StagingPlace(folder: FilePath("/s/\(name)"))]?.state
  }

  private static func answer(
    _ book: inout StagingBook, _ answer: StagingBook.Answer, at now: Double
  ) {
    for question in book.questions(nowSeconds: now) { book.answer(question, answer) }
  }

  @Test(
    "It is at rest when two looks a settle time apart find the same, whatever times its files bear")
  func rest() {
    var book = StagingBook(Self.settings())
    Self.look(&book, [Self.seen("a")], at: 0)
    Self.answer(&book, .unknown, at: 0)
    Self.look(&book, [Self.seen("a")], at: 59)
    #expect(book.questions(nowSeconds: 59).isEmpty)
    #expect(Self.state(book) == .arriving)
    Self.look(&book, [Self.seen("a", "2")], at: 60)
    Self.answer(&book, .unknown, at: 60)
    Self.look(&book, [Self.seen("a", "2")], at: 119)
    #expect(book.questions(nowSeconds: 119).isEmpty)
    Self.look(&book, [Self.seen("a", "2")], at: 120)
    #expect(book.questions(nowSeconds: 120).map(\.mayOpen) == [true])
    Self.answer(&book, .ready, at: 120)
    #expect(Self.state(book) == .queued)
  }

  @Test(
    "What earlier runs know is asked at the first sight: what is done need not come to rest again")
  func knownAtOnce() {
    var book = StagingBook(Self.settings())
    Self.look(&book, [Self.seen("a")], at: 0)
    #expect(book.questions(nowSeconds: 0).map(\.mayOpen) == [false])
    Self.answer(&book, .done(hasWarnings: true, nil), at: 0)
    #expect(Self.state(book) == .doneWithWarnings)
    // And nothing is asked again as long as nothing changes.
    Self.look(&book, [Self.seen("a")], at: 1000)
    #expect(book.questions(nowSeconds: 1000).isEmpty)
  }

  @Test("A transfer's file keeps a capture arriving however long nothing changes")
  func transfer() {
    var book = StagingBook(Self.settings())
    for seconds in [0.0, 100, 10_000] {
      Self.look(&book, [Self.seen("a", isTransferring: true)], at: seconds)
      #expect(book.questions(nowSeconds: seconds).isEmpty)
      #expect(Self.state(book) == .arriving)
    }
  }

  @Test(
    "What lacks files is processed after the patience, and at once when the sender says that it is whole"
  )
  func patience() {
    for isMarked in [false, true] {
      var book = StagingBook(Self.settings())
      Self.look(&book, [Self.seen("a")], at: 0)
      Self.look(&book, [Self.seen("a")], at: 60)
      Self.answer(&book, .incomplete(missing: ["x"]), at: 60)
      #expect(Self.state(book) == .incomplete)
      var later = Self.seen("a")
      later.mark.isComplete = isMarked
      Self.look(&book, [later], at: 599)
      #expect(Self.state(book) == (isMarked ? .queued : .incomplete))
      Self.look(&book, [later], at: 600)
      #expect(Self.state(book) == .queued)
    }
  }

  @Test("An answer about files that have changed meanwhile is worth nothing")
  func lateAnswer() {
    var book = StagingBook(Self.settings())
    Self.look(&book, [Self.seen("a")], at: 0)
    let questions = book.questions(nowSeconds: 0)
    Self.look(&book, [Self.seen("a", "2")], at: 1)
    for question in questions { book.answer(question, .done(hasWarnings: false, nil)) }
    #expect(Self.state(book) == .arriving)
  }

  @Test("An empty mount point is not: all captures are gone")
  func unmounted() {
    var book = StagingBook(Self.settings())
    Self.look(&book, [Self.seen("a")], at: 0)
    var empty = Self.snapshot([])
    empty.place = FolderPlace(device: 9, inode: 1)
    book.take(empty, nowSeconds: 30, nowText: "30")
    #expect(book.stagingTrouble != nil)
    #expect(Self.state(book) == .arriving)
    #expect(book.lost.isEmpty)
    Self.look(&book, [Self.seen("a")], at: 60)
    #expect(book.stagingTrouble == nil)
    #expect(Self.state(book) == .arriving)
  }

  @Test("A disk below STAGING that is not mounted takes no capture with it")
  func unmountedBelow() {
    var book = StagingBook(Self.settings())
    var onDisk = Self.seen("a", in: "/s/usb")
    onDisk.place = FolderPlace(device: 7, inode: 2)
    book.take(
      Self.snapshot([onDisk, Self.seen("b")]), nowSeconds: 0, nowText: "0",
      nearestPlace: { _ in nil })
    Self.look(&book, [Self.seen("b")], at: 30)
    #expect(book.missingDisk != nil)
    // The others go on; those on the disk neither come to rest nor are started.
    #expect(book.stagingTrouble == nil)
    Self.look(&book, [Self.seen("b")], at: 90)
    #expect(book.questions(nowSeconds: 90).map(\.recognition.id) == ["b"])
    #expect(book.entries.count == 2)
    #expect(book.lost.isEmpty)
  }

  @Test(
    "What went before it was done is lost; what was done, or is seen under another name, is not")
  func gone() {
    var book = StagingBook(Self.settings())
    Self.look(&book, [Self.seen("a"), Self.seen("b"), Self.seen("c")], at: 0)
    for question in book.questions(nowSeconds: 0) {
      let isDone = question.recognition.id == "b"
      book.answer(question, isDone ? .done(hasWarnings: false, nil) : .unknown)
    }
    // The files of c under another name.
    var renamed = Self.seen("d")
    renamed.stamp = PlaceStamp(text: "c 1")
    Self.look(&book, [renamed], at: 30)
    #expect(book.lost.map(\.entry.id) == ["a"])
    #expect(book.departed == [.done: 1])
    // It comes back: no loss.
    Self.look(&book, [renamed, Self.seen("a")], at: 60)
    #expect(book.lost.isEmpty)
  }

  @Test("Memory is bounded by what is there: what is done and removed leaves a number")
  func bounded() {
    var book = StagingBook(Self.settings())
    for round in 0..<2_000 {
      Self.look(&book, [Self.seen("c\(round)")], at: Double(round))
      Self.answer(&book, .done(hasWarnings: false, nil), at: Double(round))
    }
    #expect(book.entries.count == 1)
    #expect(book.departed == [.done: 1_999])
    #expect(book.lost.isEmpty)
  }

  @Test(
    "What changes while it runs is judged again when it ends, and so is what ran by rules that hold no longer"
  )
  func changedMeanwhile() {
    var book = StagingBook(Self.settings())
    let place = StagingPlace(folder: "/s/a")
    func run() {
      Self.look(&book, [Self.seen("a")], at: 0)
      Self.look(&book, [Self.seen("a")], at: 60)
      Self.answer(&book, .ready, at: 60)
      book.start(place)
      #expect(Self.state(book) == .running)
    }
    run()
    Self.look(&book, [Self.seen("a", "2")], at: 61)
    #expect(Self.state(book) == .running)
    book.end(place, .done(hasWarnings: false), "now")
    #expect(Self.state(book) == .arriving)

    book = StagingBook(Self.settings())
    run()
    book.judgeAgain()
    book.end(place, .done(hasWarnings: false), "now")
    #expect(book.questions(nowSeconds: 62).map(\.mayOpen) == [true])
  }

  @Test("What the last watcher saw and this one does not is told, once STAGING has been seen")
  func previous() {
    var record = WatchRecord(
      staging: "/s", started: "1", lastLook: "2",
      waiting: [
        .init(id: "a", family: "strabo", path: "/s/a", state: .incomplete, since: "1"),
        .init(id: "b", family: "strabo", path: "/s/b", state: .queued, since: "1"),
      ])
    record.known = 3
    var book = StagingBook(Self.settings(), previous: record)
    var empty = Self.snapshot([])
    empty.isEmpty = true
    book.take(empty, nowSeconds: 0, nowText: "0")
    #expect(book.stagingTrouble?.contains("3 captures") == true)
    #expect(book.lost.isEmpty)
    Self.look(&book, [Self.seen("a")], at: 1)
    #expect(book.lost.map(\.entry.id) == ["b"])
    #expect(book.lost.first?.entry.gone == true)
  }
}
