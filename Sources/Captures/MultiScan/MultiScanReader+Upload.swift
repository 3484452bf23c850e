extension MultiScanReader {
  /// The metadata declares the files. Before it has arrived, it is what is waited for; without it,
  /// only files with endings of this family's own tell that they are of this family.
  public static func namesLacking(ofUpload stem: String, in listing: FolderListing) -> [String]? {
    let files = MultiScanFiles.set(stem: stem, in: listing)
    for name in [files.json, files.text].compactMap(\.self) {
      guard let metadata = metadata(name, in: listing), !metadata.streams.isEmpty else { continue }
      var seen: Set<String> = []
      return endings(declaredBy: metadata)
        .filter { !$0.contains("/") && seen.insert($0).inserted }
        .map { stem + $0 }.filter { !listing.contains($0) }
    }
    guard files.hasMarker || files.cameraInfo != nil else { return nil }
    return [stem + ".json"]
  }

  private static func endings(declaredBy metadata: MultiScanMetadata) -> [String] {
    let isDual = metadata.streams.count { $0.role == .color } > 1
    return metadata.streams.compactMap { stream in
      if stream.role == .color, isDual {
        return stream.id == metadata.color?.id ? "-primary.mp4" : "-secondary.mp4"
      }
      // The app for Android does not upload this file.
      if metadata.usesPlainKeys, stream.role == .motion(.atti) { return nil }
      if let known = stream.role.map(ending) { return known }
      return stream.fileExtension.map { ".\($0)" }
    }
  }

  private static func ending(of role: MultiScanRole) -> String {
    switch role {
    case .color: ".mp4"
    case .depth: ".depth.zlib"
    case .confidence: ".confidence.zlib"
    case .cameraInfo: ".jsonl"
    case .motion(let kind): ".\(kind)"
    }
  }
}
