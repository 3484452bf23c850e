/// Numbers as readable text.
public enum NumberText {
  /// `1,204`.
  public static func grouped(_ number: Int) -> String {
    let digits = Array("\(number.magnitude)")
    var text = ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index).isMultiple(of: 3) { text.append(",") }
      text.append(digit)
    }
    return number < 0 ? "-" + text : text
  }

  /// One decimal below 100, none above; negative numbers become 0, what is not finite `?`. At most 1e15.
  public static func short(_ value: Double) -> String {
    guard value.isFinite else { return "?" }
    let value = min(max(value, 0), 1e15)
    let tenths = Int((value * 10).rounded())
    return tenths < 1000 ? "\(tenths / 10).\(tenths % 10)" : "\(Int(value.rounded()))"
  }
}
