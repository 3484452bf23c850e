import Captures
import Output
import Pipeline
import Reports
import Runner
import Storage
import SystemPackage

extension CaptureRow {
  /// What is to be done about it, in words; `nil`: nothing.
  var remedy: String? {
    var remedy = Remedy(state: state.rawValue)
    remedy.cause = standing.failure?.cause
    remedy.family = family
    remedy.message = standing.failure?.message
    remedy.attempts = standing.attempts
    remedy.missing = standing.missing
    remedy.folder = path
    remedy.isGone = standing.gone
    remedy.retryAt = standing.retryAt.map {
      NightClock.words($0, now: FileStamp.nowNanoseconds())
    }
    remedy.waitsFor = standing.waitsFor
    remedy.isWatched = isWatched
    remedy.short = shortfalls.map(\.stream)
    return remedy.sentence
  }

  /// What to type to try again; `nil`: there is nothing to try.
  func command(output root: FilePath) -> String? {
    guard state == .failed || state == .quarantined, !standing.gone else { return nil }
    guard let folder = entry?.folder ?? knownFolder else { return nil }
    var words = ["scanmill", "run", folder, "--output", root.text]
    if let pipeline, pipeline != "default" { words += ["--pipeline", pipeline] }
    for setting in entry?.settings ?? [] { words += ["--set", setting] }
    return ShellText.command(words + ["--id", id])
  }
}
