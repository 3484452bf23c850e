import Captures
import Pipeline
import Reports
import Synchronization
import Testing

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
    var event = RunEvent(kind, time: "", capture: "scan", stage: stage)
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
    _ second: Double, _ stage: String, _ outcome: JobOutcome,
    _ change: (inout RunEvent) -> Void = { _ in }
  ) -> Step {
    event(second, outcome == .blocked ? .blocked : .finished, stage) {
      $0.outcome = outcome
      change(&$0)
    }
  }

  /// A night in a few events.
  static let steps = [
    event(0, .runStarted), event(0, .captureStarted),
    event(0, .waiting) { $0.message = "locked by scanmill run 7" },
    event(0, .planned, "color"), event(0, .started, "color"), event(0, .started, "depth"),
    end(0, "frames", .upToDate), end(0, "geo", .notApplicable) { $0.message = "no positions" },
    progress(1, "color", 50, of: 1912), progress(3, "color", 150, of: 1912),
    progress(3.25, "depth", 10, of: nil), progress(9, "color", 450, of: 1912),
    end(10, "depth", .ran) {
      $0.frames = 400
      $0.seconds = 10
      $0.reason = .neverBuilt
    },
    progress(14, "color", 700, of: 1912),
    event(15, .retried, "color") { $0.message = "x.h264: read: I/O error" },
    event(15, .started, "color"), progress(16, "color", 60, of: 1912),
    progress(20, "color", 300, of: 1912),
    end(21, "color", .failed) { $0.message = "x.h264: read: I/O error" },
    end(21, "aligned", .blocked) { $0.message = "its input 'color' failed" },
    event(21, .captureFinished) {
      $0.warnings = [
        CaptureWarning(.frameGap, "depth", count: 3, "3 gaps above 100 ms"),
        CaptureWarning(.unknownKey, "txt", "an unknown key"),
      ]
    },
    event(21, .runFinished),
  ]

  /// All that is written; escapes made visible.
  static func output(
    _ style: ProgressDisplay.Style, ids: [String] = [], isVerbose: Bool = false,
    _ steps: [Step] = steps
  ) -> String {
    let now = Mutex(0.0)
    let text = Mutex("")
    let display = ProgressDisplay(
      style: style, ids: ids, isVerbose: isVerbose, nowSeconds: { now.withLock { $0 } },
      write: { piece in text.withLock { $0 += piece } })
    for step in steps {
      now.withLock { $0 = step.second }
      display.send(step.event)
    }
    return text.withLock { $0 }
      .split(separator: "\u{1B}[K", omittingEmptySubsequences: false).joined(separator: "<clear>")
      .split(separator: "\r", omittingEmptySubsequences: false).joined(separator: "<back>")
      .split(separator: "\u{1B}[A", omittingEmptySubsequences: false).joined(separator: "<up>")
  }

  @Test("Plain: a line every ten seconds, and one per end")
  func plain() {
    #expect(
      Self.output(.plain) == """
        scan
          waiting: locked by scanmill run 7
          color 150/1912 frames, 50.0 frames/s, 36 s left
          depth: 400 frames in 10.0 s, 40.0 frames/s (never-built)
          color 700/1912 frames, 50.0 frames/s, 25 s left
          color: again, after: x.h264: read: I/O error
          color: failed: x.h264: read: I/O error
          aligned: blocked: its input 'color' failed
          warning: frame-gap ×3 (depth): 3 gaps above 100 ms
          note: unknown-key ×1 (txt): an unknown key

        """)
  }

  @Test("On a terminal: one line that is drawn again, and lines that stay")
  func terminal() {
    #expect(
      Self.output(.terminal(columns: 60)) == """
        scan
          waiting: locked by scanmill run 7
          color 150/1912 frames, 50.0 frames/s, 36 s left\
        <back><clear>  color 150/1912 frames, 50.0 frames/s, 36 s left · depth 1\
        <back><clear>  color 450/1912 frames, 50.0 frames/s, 30 s left · depth 1\
        <back><clear>  depth: 400 frames in 10.0 s, 40.0 frames/s (never-built)
          color 700/1912 frames, 50.0 frames/s, 25 s left\
        <back><clear>  color: again, after: x.h264: read: I/O error
          color 300/1912 frames, 60.0 frames/s, 27 s left\
        <back><clear>  color: failed: x.h264: read: I/O error
          aligned: blocked: its input 'color' failed
          warning: frame-gap ×3 (depth): 3 gaps above 100 ms
          note: unknown-key ×1 (txt): an unknown key

        """)
  }

  @Test(
    "Of several captures: a line each, one for all, and every line that stays names its capture")
  func several() {
    func of(_ capture: String, _ step: Step) -> Step {
      var step = step
      step.event.capture = capture
      return step
    }
    let steps = [
      Self.event(0, .runStarted) { $0.total = 3 },
      of("a", Self.event(0, .captureStarted)), of("a", Self.event(0, .started, "color")),
      of("b", Self.event(0, .captureStarted)), of("b", Self.event(0, .started, "depth")),
      of("a", Self.progress(3, "color", 30, of: 60)),
      of("b", Self.progress(4, "depth", 10, of: 40)),
      of(
        "a",
        Self.end(6, "color", .ran) {
          $0.frames = 60
          $0.seconds = 6
        }),
      of(
        "a",
        Self.event(6, .captureFinished) {
          $0.message = "done"
          $0.done = 1
        }),
      of("b", Self.progress(8, "depth", 20, of: 40)), Self.event(9, .runFinished),
    ]
    #expect(
      Self.output(.terminal(columns: 80), steps) == """
        a color 30/60 frames, 10.0 frames/s, 3 s left
        [0/3] captures, 10.0 frames/s\
        <back><clear><up><clear>a color 30/60 frames, 10.0 frames/s, 3 s left
        b depth 10/40 frames, 2.5 frames/s, 12 s left
        [0/3] captures, 10.0 frames/s\
        <back><clear><up><clear><up><clear>a color: 60 frames in 6.0 s, 10.0 frames/s
        [1/3] a done
        b depth 20/40 frames, 2.5 frames/s, 8 s left
        [1/3] captures, 10.0 frames/s, 16 s left\
        <back><clear><up><clear>
        """)
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
      Self.end(1, "color", .ran) { $0.frames = 5 }, Self.end(1, "depth", .ran) { $0.frames = 6 },
      Self.event(1, .captureFinished) {
        $0.message = "done"
        $0.done = 1
        $0.missing = [".h264", ".imu"]
        $0.warnings = [CaptureWarning(.missingFile, "x.imu", "x.imu is missing")]
      },
    ]
    for index in steps.indices { steps[index].event.capture = name }
    #expect(
      Self.output(.plain, ids: names, steps) == """
        \(name) color: 5 frames
        2026-11-23_0… depth: 6 frames
        2026-11-23_0… warning: missing-file ×1 (x.imu): x.imu is missing
        [1/2] 2026-11-23_0… done, incomplete: no video, no IMU, with warnings (1)

        """)
  }

  @Test("Verbose also tells of stages that do nothing")
  func verbose() {
    let lines = Self.output(.plain, isVerbose: true).split(separator: "\n")
    #expect(lines.contains("  frames: up to date"))
    #expect(lines.contains("  geo: not applicable: no positions"))
    #expect(lines.count == Self.output(.plain).split(separator: "\n").count + 2)
  }

  @Test("Work of under two seconds shows only how it ended")
  func quick() {
    let steps = [
      Self.event(0, .captureStarted), Self.event(0, .started, "color"),
      Self.progress(0.5, "color", 10, of: 20), Self.progress(1.9, "color", 19, of: 20),
      Self.end(2, "color", .ran) {
        $0.frames = 20; $0.seconds = 2
      },
    ]
    #expect(
      Self.output(.terminal(columns: 80), steps)
        == "scan\n  color: 20 frames in 2.0 s, 10.0 frames/s\n")
  }

  @Test("A line that was being drawn is gone at the end")
  func openLine() {
    let steps = [
      Self.event(0, .started, "color"), Self.progress(3, "color", 10, of: 20),
      Self.end(4, "color", .upToDate), Self.event(4, .runFinished),
    ]
    #expect(Self.output(.terminal(columns: 80), steps).hasSuffix("left<back><clear>"))
  }
}
