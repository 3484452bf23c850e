import Synchronization
import TestSupport
import Testing

@testable import Captures
@testable import Engine
@testable import Pages

@Suite("The progress display")
struct ProgressDisplayTests {
  /// What happens, at which second.
  struct Step {
    var second: Double
    var event: RunEvent
  }

  static func event(
    _ second: Double, _ kind: RunEvent.Kind, _ stage: String? = nil,
    _ change: (inout RunEvent) -> Void = { _ in }
  ) -> Step {
    var event = RunEvent(kind: kind, time: "", capture: "scan", stage: stage)
    change(&event)
    return Step(second: second, event: event)
  }

  static func progress(_ second: Double, _ stage: String, _ frames: Int, of total: Int?) -> Step {
    event(second, .progress, stage) {
      $0.frames = frames
      $0.totalFrames = total
    }
  }

  static func end(
    _ second: Double, _ stage: String, _ outcome: RunOutcome,
    _ change: (inout RunEvent) -> Void = { _ in }
  ) -> Step {
    event(second, outcome == .blocked ? .blocked : .finished, stage) {
      $0.outcome = outcome
      change(&$0)
    }
  }

  /// A capture in a few events.
  static let steps = [
    event(0, .runStarted), event(0, .captureStarted),
    event(0, .waiting) { $0.message = "locked by scanmill run 7" },
    event(0, .planned, "color"), event(0, .started, "color"), event(0, .started, "depth"),
    end(0, "frames", .upToDate), end(0, "geo", .notPossible) { $0.message = "no positions" },
    progress(1, "color", 50, of: 1912), progress(3, "color", 150, of: 1912),
    progress(3.25, "depth", 10, of: nil), progress(9, "color", 450, of: 1912),
    end(10, "depth", .made) {
      $0.frames = 400
      $0.seconds = 10
      $0.reason = .neverBuilt
    },
    progress(14, "color", 700, of: 1912), progress(61, "color", 800, of: 1912),
    event(65, .retried, "color") { $0.message = "x.h264: read: I/O error" },
    event(65, .started, "color"), progress(66, "color", 60, of: 1912),
    progress(70, "color", 300, of: 1912),
    end(71, "color", .failed) { $0.message = "x.h264: read: I/O error" },
    end(71, "aligned", .blocked) { $0.message = "its input 'color' failed" },
    event(71, .captureFinished) {
      $0.warnings = [
        CaptureWarning(.frameGap, "depth", count: 3, "3 gaps above 100 ms"),
        CaptureWarning(.unknownKey, "txt", "an unknown key"),
      ]
    },
    event(71, .runFinished),
  ]

  /// All that is written without a terminal.
  static func plain(
    ids: [String] = [], isVerbose: Bool = false, _ steps: [Step] = steps
  ) -> String {
    let now = Mutex(0.0)
    let text = Mutex("")
    let display = ProgressDisplay(
      style: .plain, ids: ids, work: { _ in 10 }, isVerbose: isVerbose,
      nowSeconds: { now.withLock { $0 } }, write: { piece in text.withLock { $0 += piece } })
    for step in steps {
      now.withLock { $0 = step.second }
      display.send(step.event)
    }
    return text.withLock { $0 }
  }

  /// What is on a terminal after the step at each of the seconds; the last one where there are several.
  ///
  /// - Parameter widths: from which second on it is how wide.
  static func screens(
    _ widths: [Double: Int], ids: [String] = [], at seconds: [Double], _ steps: [Step] = steps
  ) -> [String] {
    let now = Mutex(0.0)
    let columns = Mutex(widths[0] ?? 80)
    let terminal = Mutex(FakeTerminal(columns: widths[0] ?? 80))
    let display = ProgressDisplay(
      style: .terminal { TerminalSize(columns: columns.withLock { $0 }, rows: 24) }, ids: ids,
      work: { _ in 10 }, isVerbose: false, nowSeconds: { now.withLock { $0 } },
      write: { piece in terminal.withLock { $0.write(piece) } })
    var screens: [Double: String] = [:]
    for step in steps {
      if let width = widths[step.second] {
        columns.withLock { $0 = width }
        terminal.withLock { $0.columns = width }
      }
      now.withLock { $0 = step.second }
      display.send(step.event)
      screens[step.second] = terminal.withLock { $0.text }
    }
    return seconds.map { screens[$0] ?? "no step" }
  }

  @Test("Without a terminal: a line a minute, and what there is to know of a capture")
  func plain() {
    #expect(
      Self.plain() == """
        scan
          waiting: locked by scanmill run 7
          70 % color 800/1912, 13.1 frames/s, 1 min 25 s left
          color: trying again after: x.h264: read: I/O error
          color: failed: x.h264: read: I/O error
          aligned: blocked: its input 'color' failed
          warning: frame-gap ×3 (depth): 3 gaps above 100 ms
          note: unknown-key ×1 (txt): an unknown key

        """)
  }

  @Test("Verbose reports every stage, with its reason")
  func verbose() {
    #expect(
      Self.plain(isVerbose: true) == """
        scan
          waiting: locked by scanmill run 7
          frames: up to date
          geo: not possible: no positions
          depth: 400 frames in 10.0 s, 40.0 frames/s (never-built)
          70 % color 800/1912, 13.1 frames/s, 1 min 25 s left
          color: trying again after: x.h264: read: I/O error
          color: failed: x.h264: read: I/O error
          aligned: blocked: its input 'color' failed
          warning: frame-gap ×3 (depth): 3 gaps above 100 ms
          note: unknown-key ×1 (txt): an unknown key

        """)
  }

  @Test("On a terminal: one line, redrawn, removed at the end; nothing before two seconds")
  func terminal() {
    let screens = Self.screens([0: 70], at: [1, 3.25, 14, 71])
    #expect(
      screens[0] == """
        scan
          waiting: locked by scanmill run 7

        """)
    #expect(
      screens[1] == """
        scan
          waiting: locked by scanmill run 7
          [                ]   3 % color 150/1912, 50.0 frames/s, 36 s lef…
        """)
    #expect(
      screens[2] == """
        scan
          waiting: locked by scanmill run 7
          [=========>      ]  68 % color 700/1912, 50.0 frames/s, 25 s left
        """)
    #expect(
      screens[3] == """
        scan
          waiting: locked by scanmill run 7
          color: trying again after: x.h264: read: I/O error
          color: failed: x.h264: read: I/O error
          aligned: blocked: its input 'color' failed
          warning: frame-gap ×3 (depth): 3 gaps above 100 ms
          note: unknown-key ×1 (txt): an unknown key

        """)
  }

  static let ids = [
    "2026-11-23_09-55-14__A8ECBA23-EFA8-4B99-A459", "session_2026-11-10T01-38-53Z", "lab",
    "zweite 部屋 スキャン 長い名前",
  ]

  /// Four captures, at most two at a time.
  static var several: [Step] {
    func of(_ capture: Int, _ step: Step) -> Step {
      var step = step
      step.event.capture = ids[capture]
      return step
    }
    var steps = [event(0, .runStarted) { $0.total = 4 }]
    for capture in [0, 1] {
      steps.append(of(capture, event(0, .captureStarted)))
      for stage in ["aligned", "color", "depth", "tables"] {
        steps.append(of(capture, event(0, .planned, stage)))
      }
    }
    return steps + [
      of(0, event(0, .started, "aligned")), of(0, event(0, .started, "color")),
      of(1, event(0, .started, "color")), of(0, progress(3, "aligned", 21, of: 1912)),
      of(0, progress(3.5, "color", 180, of: 1912)), of(1, progress(4, "color", 52, of: 60)),
      of(
        1,
        end(5, "color", .made) {
          $0.frames = 60
          $0.seconds = 5
          $0.reason = .neverBuilt
        }),
      of(
        1,
        event(5, .captureFinished) {
          $0.message = "made"
          $0.done = 1
          $0.warnings = [CaptureWarning(.frameGap, "depth", count: 3, "3 gaps above 100 ms")]
        }),
      of(3, event(5, .captureStarted)), of(3, event(5, .planned, "color")),
      of(3, event(5, .started, "color")), of(3, progress(8, "color", 12, of: 40)),
      of(2, event(9, .captureStarted)),
      of(
        2,
        event(9, .captureFinished) {
          $0.message = "failed"
          $0.done = 2
        }),
      of(0, progress(70, "aligned", 700, of: 1912)),
    ]
  }

  @Test(
    "Of several captures: a line each, one for all, a short one of each that has ended; at any width",
    arguments: [
      (
        60,
        """
        [1/4] session_2026-11-10T01-38-53Z done, warnings: 1 kind, 3 occurrences in 5 s
        [2/4] lab failed
        2026-11-23_0…      11 % aligned 700/1912, 10.0 frames/s · …
        zweite 部屋 スキ…  30 % color 12/40, 4.0 frames/s
        2/4 captures, 1 failed · 1 min 10 s · 1 min 19 s left
        """
      ),
      (
        80,
        """
        [1/4] session_2026-11-10T01-38-53Z done, warnings: 1 kind, 3 occurrences in 5 s
        [2/4] lab failed
        2026-11-23_0…     [        ]  11 % aligned 700/1912, 10.0 frames/s · color 180…
        zweite 部屋 スキ… [=>      ]  30 % color 12/40, 4.0 frames/s
        2/4 captures, 1 failed · 1 min 10 s, 13.6 frames/s · 1 min 19 s left
        """
      ),
      (
        140,
        """
        [1/4] session_2026-11-10T01-38-53Z done, warnings: 1 kind, 3 occurrences in 5 s
        [2/4] lab failed
        2026-11-23_0…     [>               ]  11 % aligned 700/1912, 10.0 frames/s · color 180/1912
        zweite 部屋 スキ… [===>            ]  30 % color 12/40, 4.0 frames/s
        2/4 captures, 1 failed · 1 min 10 s, 13.6 frames/s · 1 min 19 s left
        """
      ),
    ])
  func several(columns: Int, screen: String) {
    #expect(Self.screens([0: columns], ids: Self.ids, at: [70], Self.several) == [screen])
  }

  @Test(
    "A window that is made smaller and larger repeats nothing",
    arguments: [[0.0: 100, 4: 40, 8: 80], [0: 140, 3.5: 30, 5: 20, 8: 140, 70: 80]])
  func resized(widths: [Double: Int]) {
    #expect(
      Self.screens(widths, ids: Self.ids, at: [70], Self.several)
        == Self.screens([0: 80], ids: Self.ids, at: [70], Self.several))
  }

  @Test("A line from elsewhere takes the place of what is drawn, also behind a terminal's `^C`")
  func said() {
    let now = Mutex(0.0)
    let terminal = Mutex(FakeTerminal(columns: 60))
    let display = ProgressDisplay(
      style: .terminal { TerminalSize(columns: 60, rows: 24) }, ids: Self.ids, work: { _ in 10 },
      isVerbose: false, nowSeconds: { now.withLock { $0 } },
      write: { piece in terminal.withLock { $0.write(piece) } })
    for step in Self.several.dropLast(3) {
      now.withLock { $0 = step.second }
      display.send(step.event)
    }
    terminal.withLock { $0.write("^C") }
    display.say("stopping: nothing more starts")
    #expect(
      terminal.withLock { $0.text } == """
        [1/4] session_2026-11-10T01-38-53Z done, warnings: 1 kind, 3 occurrences in 5 s
        stopping: nothing more starts

        """)
  }

  @Test("On a terminal failures of several captures have no reason, except with -v")
  func reasons() {
    var steps = Self.several
    var failure = Self.end(9, "color", .failed) { $0.message = "x.h264: read: I/O error" }
    failure.event.capture = Self.ids[2]
    steps.insert(failure, at: steps.count - 2)
    #expect(
      Self.screens([0: 80], ids: Self.ids, at: [70], steps)
        == Self.screens([0: 80], ids: Self.ids, at: [70], Self.several))
    #expect(Self.plain(ids: Self.ids, steps).contains("color: failed: x.h264: read: I/O error"))
  }

  @Test("Without a terminal, of several: a line per capture and a line a minute")
  func plainSeveral() {
    #expect(
      Self.plain(ids: Self.ids, Self.several) == """
        [1/4] session_2026-11-10T01-38-53Z done, warnings: 1 kind, 3 occurrences in 5 s
        [2/4] lab failed
        2/4 captures, 1 failed · 1 min 10 s, 13.6 frames/s · 1 min 19 s left · at work: 2026-11-23_0… 11 %, zweite 部屋 スキ… 30 %

        """)
  }

  @Test("Many captures of less than a second: from two seconds on, a line says how far the run is")
  func short() {
    let names = (1...300).map { "scan-\($0)" }
    var steps = [Self.event(0, .runStarted) { $0.total = names.count }]
    for (index, name) in names.enumerated() {
      let second = Double(index) / 2
      var more = [
        Self.event(second, .captureStarted), Self.event(second, .planned, "color"),
        Self.event(second, .started, "color"),
        Self.end(second + 0.5, "color", .made) { $0.frames = 30 },
        Self.event(second + 0.5, .captureFinished) {
          $0.message = "made"
          $0.done = index + 1
        },
      ]
      for place in more.indices { more[place].event.capture = name }
      steps += more
    }
    let screens = Self.screens([0: 80], ids: names, at: [1.5, 30, 150], steps).map {
      $0.lines.last ?? ""
    }
    #expect(
      screens == [
        "[3/300] scan-3 done", "60/300 captures · 30 s, 60.0 frames/s · 2 min 00 s left",
        "[300/300] scan-300 done",
      ])
    let minutes = Self.plain(ids: names, steps).lines.filter {
      !$0.hasPrefix("[")
    }
    #expect(minutes.count == 2)
    #expect(minutes.first == "120/300 captures · 1 min 00 s, 60.0 frames/s · 1 min 30 s left")
  }

  @Test("A long id is named in full once, and by its shortest unique prefix from then on")
  func longNames() {
    let names = [
      "2026-11-23_09-55-14__A8ECBA23-EFA8-4B99-A459",
      "2026-11-23_10-01-00__A8ECBA23-EFA8-4B99-A459",
    ]
    let name = names[0]
    var steps = [
      Self.event(0, .runStarted) { $0.total = 2 }, Self.event(0, .captureStarted),
      Self.end(1, "color", .made) { $0.frames = 5 }, Self.end(1, "depth", .made) { $0.frames = 6 },
      Self.event(1, .captureFinished) {
        $0.message = "made"
        $0.done = 1
        $0.missing = [".h264", ".imu"]
        $0.warnings = [CaptureWarning(.missingFile, "x.imu", "x.imu is missing")]
      },
    ]
    for index in steps.indices { steps[index].event.capture = name }
    #expect(
      Self.plain(ids: names, isVerbose: true, steps) == """
        \(name) color: 5 frames
        2026-11-23_0… depth: 6 frames
        2026-11-23_0… warning: missing-file ×1 (x.imu): x.imu is missing
        [1/2] 2026-11-23_0… done, no video, no IMU, warnings: 1 kind, 1 occurrence in 1 s

        """)
    #expect(
      Self.plain(ids: names, steps) == """
        [1/2] \(name) done, no video, no IMU, warnings: 1 kind, 1 occurrence in 1 s

        """)
  }

  @Test("The remaining time is estimated by work, not by count")
  func byWork() {
    // A large one is half done, three small ones are not begun.
    func left(_ work: @escaping @Sendable (String) -> Double?) -> Double? {
      var board = ProgressBoard(startSeconds: 0, names: ["a", "b", "c", "d"], work: work)
      for step in [
        Self.event(0, .runStarted) { $0.total = 4 }, Self.event(0, .captureStarted),
        Self.event(0, .started, "color"), Self.progress(100, "color", 50, of: 100),
      ] {
        var event = step.event
        event.capture = "a"
        board.apply(event, atSeconds: step.second)
      }
      return board.secondsLeft(at: 100)
    }
    var board = ProgressBoard(startSeconds: 0, names: ["a", "b"], work: { _ in 1 })
    for (name, outcome) in [("a", "made"), ("b", "interrupted")] {
      for (kind, second) in [
        (RunEvent.Kind.captureStarted, 0.0), (.started, 0), (.captureFinished, 9),
      ] {
        var event = RunEvent(
          kind: kind, time: "", capture: name, stage: kind == .started ? "color" : nil)
        event.message = kind == .captureFinished ? outcome : nil
        board.apply(event, atSeconds: second)
      }
      // An interrupt leaves the rest for another run.
      #expect(board.secondsLeft(at: 10) == (outcome == "made" ? 10 : nil))
    }
    #expect(left { $0 == "a" ? 97 : 1 } == 100 * 51.5 / 48.5)
    #expect(left { _ in 1 } == 700)
    #expect(left { $0 == "d" ? nil : 1 } == nil)
  }
}

/// A terminal as far as the display needs one: lines that wrap, also when the window changes.
struct FakeTerminal {
  var columns: Int
  /// Lines as they were written, before wrapping.
  private(set) var lines: [[Character]] = [[]]
  private var line = 0
  private var column = 0

  init(columns: Int) { self.columns = columns }

  private func rows(_ line: [Character]) -> Int { max(1, (line.count + columns - 1) / columns) }

  mutating func write(_ text: String) {
    var rest = Substring(text)
    while let character = rest.first {
      rest = rest.dropFirst()
      switch character {
      case "\r": column = column / columns * columns
      case "\n", "\r\n":
        line += 1
        column = 0
        if line == lines.count { lines.append([]) }
      case "\u{1B}":
        let code = rest.prefix { !$0.isLetter }
        let letter = rest.dropFirst(code.count).first
        rest = rest.dropFirst(code.count + 1)
        if letter == "A" { up(Int(code.dropFirst()) ?? 1) }
        if letter == "J" {
          lines[line] = Array(lines[line].prefix(column))
          lines.removeSubrange((line + 1)...)
        }
      default:
        while lines[line].count <= column { lines[line].append(" ") }
        lines[line][column] = character
        column += 1
      }
    }
  }

  private mutating func up(_ count: Int) {
    var left = count
    var row = column / columns
    while left > 0 {
      if row > 0 {
        row -= 1
      } else if line > 0 {
        line -= 1
        row = rows(lines[line]) - 1
      }
      left -= 1
    }
    column = row * columns
  }

  /// What is on the screen, without wrapping it.
  var text: String { lines.map { String($0) }.joined(separator: "\n") }
}
