import SystemPackage

extension VISLAMCapture {
  /// The files from which each part is read. If rows determine a picture's frame, color depends on
  /// the tables too.
  func files(
    _ pictures: VISLAMPictures, samples: StreamState<VISLAMIMUTable>,
    table: StreamState<VISLAMFrameTable>
  ) -> [CapturePart: [FilePath]] {
    let rows = existing([VISLAMFiles.frameFile])
    var color: [FilePath] = []
    switch pictures {
    case .none: break
    case .unreadable(let error): color = [error.file]
    case .video(let video): color = [video.path]
    case .named(let stills): color = stills.compactMap { $0 }
    case .unnamed(let stills): color = stills
    }
    let signs = existing([VISLAMFiles.metadataFile])
    var files: [CapturePart: [FilePath]] = [:]
    files[.color] = color + rows
    // The video's times show which pictures lack a row; stills have none.
    if case .video = pictures { files[.frames] = rows + color } else { files[.frames] = rows }
    files[.cameraSettings] = rows
    let imuNames = [VISLAMFiles.imuFile, VISLAMFiles.siblingIMUFile]
    // The form of the frame table is one of the signs of the convention.
    files[.imu] = Array(existing(imuNames).prefix(1)) + signs + rows
    return files
  }

  /// The app writes its tables when the recording ends: a session without them was interrupted.
  func completeness(
    _ pictures: VISLAMPictures, samples: StreamState<VISLAMIMUTable>,
    table: StreamState<VISLAMFrameTable>
  ) -> UploadCompleteness {
    var missing: [String] = []
    switch pictures {
    case .none: missing.append("no video and no folder of stills")
    case .unreadable(let error): missing.append("the video is not closed: \(error.problem)")
    case .video, .unnamed: break
    case .named(let stills):
      let holes = stills.count { $0 == nil }
      if holes > 0 { missing.append("pictures that rows name are missing (\(holes))") }
    }
    if case .absent(let why) = table { missing.append(why) }
    if case .absent(let why) = samples { missing.append(why) }
    if table.value?.isCut == true { missing.append("\(VISLAMFiles.frameFile) ends inside a line") }
    if let samples = samples.value, samples.isCut {
      missing.append("\(samples.file) ends inside a line")
    }
    var absent: [String] = []
    if case .none = pictures { absent.append(VISLAMFiles.usualVideo) }
    let motion = [VISLAMFiles.imuFile, VISLAMFiles.siblingIMUFile]
    if !motion.contains(where: folder.contains) { absent.append(VISLAMFiles.imuFile) }
    if !folder.contains(VISLAMFiles.frameFile) { absent.append(VISLAMFiles.frameFile) }
    return UploadCompleteness(missing: missing, absentFiles: absent)
  }

  private func existing(_ names: [String]) -> [FilePath] {
    names.filter(folder.contains).map(folder.file)
  }
}
