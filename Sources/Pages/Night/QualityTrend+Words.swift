import Engine
import Processing

extension QualityTrend {
  /// `Depth differs by 9 ‰ from frame to frame in the last 5 captures, by 4 ‰ in the 20 before`.
  var words: String {
    let subject = QualityVerdict.Subject(rawValue: self.subject)
    func text(_ value: Double) -> String { subject?.text(value) ?? FigureText.significant(value) }
    let past = "in the last \(captures) captures, \(text(before)) in the \(capturesBefore) before"
    return switch subject {
    case .depthMissing: "Of the depth \(text(recent)) is missing \(past)"
    case .depthDisagreement: "Depth differs from frame to frame by \(text(recent)) \(past)"
    default: "\(self.subject) \(text(recent)) \(past)"
    }
  }
}
