/// `README.txt` of an export: what it contains, how to open it, axes and units, and what was not
/// measured.
struct ExportReadme {
  var title: String
  /// The content of the folder, one sentence each.
  var contents: [String] = []
  /// Commands or lines of code that open it, and their purpose.
  var opening: [(command: String, purpose: String)] = []
  /// Axes, units, names, clocks; one sentence each.
  var conventions: [String] = []
  /// Warnings and remedies for the user.
  var remarks: [String] = []

  init(_ title: String) { self.title = title }

  /// The text, in lines of at most 100 columns; depends on the content alone.
  ///
  /// - Parameters:
  ///   - notMeasured: sentences about values that were not measured.
  ///   - frames: `nil` for a format without frames.
  ///   - canonical: number of frames of the capture.
  func text(notMeasured: [String], _ frames: ExportFrames?, of canonical: Int) -> String {
    var lines = [title, String(repeating: "=", count: title.count), ""]
    lines += contents.flatMap { Self.wrapped($0) }
    lines += section(
      "How to open it",
      opening.flatMap { opening in
        Self.wrapped(opening.purpose + ":") + ["", "    " + opening.command, ""]
      })
    lines += section("Axes, units, names", conventions.flatMap(Self.item))
    let assumed =
      notMeasured.isEmpty ? ["Nothing: every number was recorded."] : notMeasured
    lines += section("Not measured", assumed.flatMap(Self.item))
    if let frames { lines += section("Frames", Self.counts(frames, canonical)) }
    if !remarks.isEmpty { lines += section("Remarks", remarks.flatMap(Self.item)) }
    while lines.last?.isEmpty == true { lines.removeLast() }
    return lines.joined(separator: "\n") + "\n"
  }

  private func section(_ name: String, _ body: [String]) -> [String] {
    body.isEmpty
      ? []
      : ["", name, String(repeating: "-", count: name.count), ""]
        + (body.last?.isEmpty == true ? Array(body.dropLast()) : body)
  }

  private static func counts(_ frames: ExportFrames, _ canonical: Int) -> [String] {
    var lines = item("\(frames.frames.count) of \(canonical) frames are here.")
    for reason in SkippedExport.allCases {
      if let count = frames.leftOut[reason] {
        lines += item("\(count) left out: \(reason.rawValue), \(reason.words).")
      }
    }
    return lines
  }

  private static func item(_ sentence: String) -> [String] {
    let lines = wrapped(sentence, columns: 98)
    return lines.enumerated().map { ($0.offset == 0 ? "- " : "  ") + $0.element }
  }

  /// A number for people with at most three decimals.
  static func rounded(_ value: Double) -> String {
    MatrixText.number((value * 1000).rounded() / 1000)
  }

  /// Wraps at blanks; line ends in the text are kept.
  static func wrapped(_ text: String, columns: Int = 100) -> [String] {
    var lines: [String] = []
    for paragraph in text.split(separator: "\n", omittingEmptySubsequences: false) {
      var line = ""
      for word in paragraph.split(separator: " ") {
        if !line.isEmpty, line.count + 1 + word.count > columns {
          lines.append(line)
          line = ""
        }
        line += (line.isEmpty ? "" : " ") + word
      }
      lines.append(line)
    }
    return lines
  }
}

extension SkippedExport {
  /// A text for people.
  var words: String {
    switch self {
    case .noPicture: "no color picture"
    case .otherSize: "the picture has another size than the others"
    case .noDepth: "no depth picture"
    case .noPose: "the app was not tracking"
    case .noIntrinsics: "no intrinsics"
    case .noTime: "no time"
    case .timeNotIncreasing: "its time is not later than that of the frame before"
    case .outsideIMU: "not covered by IMU samples"
    case .noPosition: "no position"
    case .notSelected: "not selected by the parameters"
    case .notInFormat: "the format has no frames"
    }
  }
}

/// Formats matrices as lines of numbers: separated by one blank, none at the end, each the shortest
/// text that reads back to the same double.
enum MatrixText {
  /// 4 lines of 4 numbers.
  static func rows(_ rowMajor4x4: [Double]) -> String {
    stride(from: 0, to: rowMajor4x4.count, by: 4).map { row in
      rowMajor4x4[row..<min(row + 4, rowMajor4x4.count)].map(number).joined(separator: " ") + "\n"
    }.joined()
  }

  /// Whole numbers have no `.0`; never `-0`.
  static func number(_ value: Double) -> String {
    if value == 0 { return "0" }
    let text = value.description
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }
}
