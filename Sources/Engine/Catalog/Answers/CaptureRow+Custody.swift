import Captures

extension CaptureRow {
  /// Whether it may be deleted on its device, and why not.
  var custody: Custody {
    let received = entry?.received
    let manifest = received?.manifest
    let missing = condition.missing.count
    return Custody(
      receivedFiles: received?.files, receivedBytes: received?.bytes,
      expectedFiles: manifest.map { max($0.files, 0) } ?? received.map { $0.files + missing },
      verifiedBy: manifest.flatMap { doubts($0).isEmpty ? .manifest : nil }, lacks: lacks(manifest))
  }

  private func lacks(_ manifest: UploadCounts?) -> [String] {
    var lacks: [String] = []
    switch state {
    case .done, .doneWithWarnings: break
    case .failed, .quarantined:
      lacks.append("\(state.words)" + (condition.failure?.stage.map { ": stage \($0)" } ?? ""))
    default: lacks.append(state.words)
    }
    if !condition.missing.isEmpty { lacks.append(OutcomeWords.lacks(condition.missing)) }
    if let manifest { lacks += doubts(manifest) }
    if state.isReady {
      guard let entry else { return lacks + ["nothing of it was processed"] }
      if family == nil { lacks.append("of no known family") }
      lacks += shortfalls.map(\.lossWords)
      for stage in entry.stages where stage.state.isLack {
        lacks.append("stage \(stage.stage) is \(stage.state.rawValue)")
      }
      if entry.received == nil { lacks.append("which files were received is not recorded") }
    }
    let codes = Set(warnings.withoutNotes.map(\.code)).filter {
      $0.cure == .copy && $0 != .shortfall
    }
    if !codes.isEmpty {
      let names = WarningCode.allCases.filter(codes.contains).map(\.rawValue)
      lacks.append("warnings ask for another copy: \(names.joined(separator: ", "))")
    }
    if lacks.isEmpty, wouldNeedPerson { lacks.append("it needs you") }
    return lacks.isEmpty && manifest == nil ? [Custody.notCompared] : lacks
  }

  /// Why a manifest does not prove that all files are as they are on the device.
  private func doubts(_ manifest: UploadCounts) -> [String] {
    var doubts: [String] = []
    let open = manifest.files - manifest.verified
    if open > 0 {
      doubts.append("\(open) of \(manifest.files) files not verified by the upload server")
    } else if !manifest.isComplete || manifest.files == 0 {
      doubts.append("the upload server has not got everything")
    }
    let changed = manifest.verified - manifest.unchanged
    if changed > 0 {
      doubts.append(
        "\(changed) of \(manifest.files) files have changed since the upload server compared them, "
          + "or have other times")
    }
    if let files = entry?.received?.files, files > manifest.files {
      doubts.append(
        "\(files - manifest.files) of \(files) files did not come through the upload server")
    }
    return doubts
  }
}
