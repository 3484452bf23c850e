/// `README.txt` of an export: what it contains, how to open it, axes and units, and what was not
/// measured.
struct ExportReadme {
  private let title: String
  /// The content of the folder, one sentence each.
  var contents: [String]
  /// Commands or lines of code that open it, and their purpose.
  private let opening: [(command: String, purpose: String)]
  /// Axes, units, names, clocks; one sentence each.
  var conventions: [String]
  /// Warnings and remedies for the user.
  var remarks: [String]

  init(
    _ title: String, @ListBuilder<String> contents: () -> [String],
    @ListBuilder<(command: String, purpose: String)> opening: () -> [(
      command: String, purpose: String
    )],
    @ListBuilder<String> conventions: () -> [String], @ListBuilder<String> remarks: () -> [String]
  ) {
    self.title = title
    self.contents = contents()
    self.opening = opening()
    self.conventions = conventions()
    self.remarks = remarks()
  }

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
    ((value * 1000).rounded() / 1000).shortText
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

/// Makes a list of the values of its statements, in their order.
@resultBuilder enum ListBuilder<Element> {
  static func buildExpression(_ element: Element) -> [Element] { [element] }
  static func buildBlock(_ parts: [Element]...) -> [Element] { parts.flatMap { $0 } }
  static func buildOptional(_ part: [Element]?) -> [Element] { part ?? [] }
  static func buildEither(first part: [Element]) -> [Element] { part }
  static func buildEither(second part: [Element]) -> [Element] { part }
  static func buildArray(_ parts: [[Element]]) -> [Element] { parts.flatMap { $0 } }
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

extension [Double] {
  /// The numbers of a 4x4 matrix by rows: 4 lines of 4 numbers, one blank between them.
  var matrixText: String {
    stride(from: 0, to: count, by: 4).map { row in
      self[row..<Swift.min(row + 4, count)].map(\.shortText).joined(separator: " ") + "\n"
    }.joined()
  }
}

extension Double {
  /// The shortest text that reads back to the same double. Whole numbers have no `.0`; never `-0`.
  var shortText: String {
    if self == 0 { return "0" }
    let text = description
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }
}
