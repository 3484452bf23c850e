import Core
import SystemPackage

extension MultiScanCapture {
  /// Whether the app finished and all its files have arrived. The app writes metadata, motion
  /// headers, the video's index and the streams' end marks when the recording stops.
  var completeness: UploadCompleteness {
    var missing: [String] = []
    if contents.metadata == nil, contents.metadataProblem == nil {
      missing.append("The metadata is not there.")
    }
    let files = contents.files
    let declared = Set(contents.metadata?.streams.compactMap(\.role) ?? [])
    let generation = contents.generation
    if declared.contains(.color) || contents.metadata == nil, contents.color.isAbsent {
      missing.append("The video is not there.")
    }
    if generation == .iosDual, files.secondaryVideo == nil {
      missing.append("The second video is not there.")
    }
    if let error = contents.color.error {
      missing.append("The video is not finished: \(error.problem).")
    }
    if contents.color.value?.endsEarly == true {
      missing.append("The video ends before its own index says.")
    }
    let hasDepth = generation.writesCameraInfo || generation == .iosStereo
    if hasDepth { missing += Self.unfinished(contents.depth, "depth file") }
    if generation.writesCameraInfo {
      missing += Self.unfinished(contents.confidence, "confidence file")
      if contents.cameraInfo.isAbsent { missing.append("The camera info is not there.") }
    } else {
      for kind in MultiScanMotionKind.allCases {
        switch contents.motion[kind] {
        case nil: missing.append("The motion file .\(kind) is not there.")
        case .present(let file)? where file.header == nil:
          missing.append("The motion file .\(kind) has no header.")
        default: break
        }
      }
    }
    return UploadCompleteness(missing: missing, absentFiles: contents.absentEndings)
  }

  private static func unfinished(
    _ stream: StreamState<MultiScanSurveyedDepth>, _ name: String
  ) -> [String] {
    switch stream {
    case .absent: ["The \(name) is not there."]
    case .present(let stream) where stream.survey.isCut: ["The \(name) has no end mark."]
    case .present, .unreadable: []
    }
  }
}

extension MultiScanTables {
  /// Endings of missing files of a complete upload: the metadata, and the file of every stream that
  /// it declares.
  var absentEndings: [String] {
    guard let metadata else { return [generation == .androidPlain ? ".txt" : ".json"] }
    var seen: Set<String> = []
    return metadata.streams.compactMap(declaredEnding)
      .filter { seen.insert($0).inserted && !files.has(ending: $0) }
      // The app itself never uploads this file.
      .filter { !(generation == .androidPlain && $0 == ".atti") }
  }

  /// The ending of the file of a stream; `nil` if unknown.
  private func declaredEnding(_ stream: MultiScanStream) -> String? {
    switch stream.role {
    case .color where generation == .iosDual:
      stream.id == metadata?.color?.id ? "-primary.mp4" : "-secondary.mp4"
    case .color: ".mp4"
    case .depth: ".depth.zlib"
    case .confidence: ".confidence.zlib"
    case .cameraInfo: ".jsonl"
    case .motion(let kind): ".\(kind)"
    case nil: stream.fileExtension.map { ".\($0)" }
    }
  }
}

extension MultiScanFiles {
  /// Whether the file with that ending exists. A name that leads to another folder is not an
  /// ending.
  fileprivate func has(ending: String) -> Bool {
    guard !ending.contains("/"), !ending.utf8.contains(0) else { return true }
    return FileSystem.exists(folder.appending(stem + ending))
  }
}

extension StreamState {
  fileprivate var isAbsent: Bool { if case .absent = self { true } else { false } }
}
