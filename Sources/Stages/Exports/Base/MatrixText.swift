/// Formats matrices as lines of numbers: separated by one blank, none at the end, each the shortest
/// text that reads back to the same double.
package enum MatrixText {
  /// 4 lines of 4 numbers.
  static func rows(_ rowMajor4x4: [Double]) -> String {
    stride(from: 0, to: rowMajor4x4.count, by: 4).map { row in
      rowMajor4x4[row..<min(row + 4, rowMajor4x4.count)].map(number).joined(separator: " ") + "\n"
    }.joined()
  }

  /// Whole numbers have no `.0`; never `-0`.
  package static func number(_ value: Double) -> String {
    if value == 0 { return "0" }
    let text = value.description
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }
}
