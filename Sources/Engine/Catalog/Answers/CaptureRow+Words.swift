import Captures
import Core
import SystemPackage

extension CaptureRow {
  /// What is to be done about it, in words; `nil`: nothing.
  var remedy: String? {
    var remedy = Remedy(state: state.rawValue)
    remedy.cause = condition.failure?.cause
    remedy.family = family
    remedy.message = condition.failure?.message
    remedy.attempts = condition.attempts
    remedy.missing = condition.missing
    remedy.folder = path
    remedy.isOneFile = isOneFile
    remedy.isGone = condition.gone
    remedy.retryAt = condition.retryAt.map {
      NightClock.words($0, now: FileStamp.nowNanoseconds())
    }
    remedy.waitsFor = condition.waitsFor
    remedy.isWatched = isWatched
    remedy.losses = shortfalls.map(\.lossWords)
    return remedy.sentence
  }

  /// Whether its place is a file. Cost: a look at it where a sentence depends on it.
  private var isOneFile: Bool {
    guard state.needsPerson || !condition.missing.isEmpty, let place = entry?.folder ?? knownFolder
    else { return false }
    let path = FilePath(text: place)
    return FileSystem.exists(path) && !FileSystem.isFolder(path)
      && entry?.stem == nil && knownStem == nil
  }

  /// What to type to try again; `nil`: there is nothing to try.
  func command(output root: FilePath) -> String? {
    guard state == .failed || state == .quarantined, !condition.gone else { return nil }
    guard let folder = entry?.folder ?? knownFolder else { return nil }
    var words = ["scanmill", "run", folder, "--output", root.text]
    if let pipeline, pipeline != "default" { words += ["--pipeline", pipeline] }
    for setting in entry?.settings ?? [] { words += ["--set", setting] }
    return ShellText.command(words + ["--id", id])
  }
}
