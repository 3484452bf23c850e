import Captures
import Output
import Pipeline
import Reports

extension CaptureRow {
  /// Whether it may be deleted on its device, and why not.
  var custody: Custody {
    let received = entry?.received
    let manifest = received?.manifest
    var custody = Custody(
      receivedFiles: received?.files, receivedBytes: received?.bytes,
      lacks: lacks(manifest))
    let missing = standing.missing.count
    custody.expectedFiles = manifest.map { max($0.files, 0) } ?? received.map { $0.files + missing }
    if let manifest {
      if manifest.isComplete, manifest.verified == manifest.files {
        custody.verifiedBy = "manifest"
      }
    } else if received != nil, missing == 0, family != nil {
      custody.verifiedBy = "rule"
    }
    return custody
  }

  private func lacks(_ manifest: UploadCounts?) -> [String] {
    var lacks: [String] = []
    switch state {
    case .done, .doneWithWarnings: break
    case .failed, .quarantined:
      lacks.append("\(state.words)" + (standing.failure?.stage.map { ": stage \($0)" } ?? ""))
    default: lacks.append(state.words)
    }
    if !standing.missing.isEmpty { lacks.append(OutcomeWords.lacks(standing.missing)) }
    if let manifest {
      let open = manifest.files - manifest.verified
      if open > 0 {
        lacks.append("\(open) of \(manifest.files) files not verified by the upload server")
      } else if !manifest.isComplete {
        lacks.append("the upload server has not got everything")
      }
    }
    if state.isReady {
      guard let entry else { return lacks + ["nothing of it was processed"] }
      if family == nil { lacks.append("of no known family") }
      for shortfall in shortfalls { lacks.append("much of \(shortfall.stream) is lost") }
      for stage in entry.stages where stage.state.isLack {
        lacks.append("stage \(stage.stage) is \(stage.state.rawValue)")
      }
      if entry.received == nil { lacks.append("which files were received is not recorded") }
    }
    return lacks
  }
}
