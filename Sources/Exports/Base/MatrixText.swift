/// Matrices as lines of numbers: one blank between, none at the end, the shortest texts that read back to the
/// same doubles.
package enum MatrixText {
  /// 4 lines of 4 numbers.
  package static func rows(_ rowMajor4x4: [Double]) -> String {
    stride(from: 0, to: rowMajor4x4.count, by: 4).map { row in
      rowMajor4x4[row..<min(row + 4, rowMajor4x4.count)].map(number).joined(separator: " ") + "\n"
    }.joined()
  }

  /// Whole numbers without `.0`, and never `-0`.
  package static func number(_ value: Double) -> String {
    if value == 0 { return "0" }
    let text = value.description
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }
}
