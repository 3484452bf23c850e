import Captures

extension WarningCode {
  /// What makes it go away.
  var cure: Cure { words.cure }

  /// The code's meaning, its effect on the data, and what to do. The switch has no default case, so
  /// a new code without these texts does not compile.
  var words: CodeWords {
    switch self {
    case .frameCountMismatch:
      CodeWords(
        "Streams of one recording have different numbers of items.",
        data:
          "All items are used. Where they carry numbers or times, those that are left have their places, and the message names those that are missing.",
        remedy:
          "Check whether the upload is complete. If the message does not name what is missing, everything behind the first loss may belong to later frames, by up to the count: compare pictures and depth with the preview pipeline before you use them together.",
        cure: .copy)
    case .colorShorterThanDepth:
      CodeWords(
        "There are fewer color pictures than depth frames.",
        data: "The last depth frames have no color.",
        remedy:
          "Copy the video, or the pictures, again if they were cut on the way. If the device has no more, the app was stopped while recording.",
        cure: .copy)
    case .depthShorterThanColor:
      CodeWords(
        "There are fewer depth frames than color pictures.",
        data: "The last pictures have no depth.",
        remedy:
          "Copy the file that holds the depth again if it was cut on the way. If the device has no more, the app was stopped while recording.",
        cure: .copy)
    case .truncatedStream:
      CodeWords(
        "A file ends inside a record or before its own end mark.",
        data: "Everything before that place was read; what follows is missing.",
        remedy:
          "Copy the file again. Of a capture that is one file copy that file: nothing can be copied into it. If it is cut on the device as well, the app was stopped while recording.",
        cure: .copy)
    case .trailingData:
      CodeWords(
        "Bytes follow the end of a file's content.",
        data: "They were left out; no frame is lost.",
        remedy:
          "Compare its size with that on the device, and copy the file again where they differ: two files may have been joined by mistake. If the device has the same, there is nothing to do.",
        cure: .copy)
    case .emptyRecord:
      CodeWords(
        "Records without content: the app could not encode these frames.",
        data: "These frames are holes at their own index.",
        remedy: "There is nothing to do: they cannot be recovered.")
    case .corruptRecord:
      CodeWords(
        "Records or pictures that cannot be decoded, or that the decoder had to patch up.",
        data: "Frames that cannot be decoded are holes at their own index.",
        remedy:
          "Copy the file again and compare its checksum with that on the device. Of a capture that is one file copy that file: nothing can be copied into it. If they are the same, it was damaged while recording.",
        cure: .copy)
    case .mixedOrientations:
      CodeWords(
        "Some pictures state an EXIF orientation that others do not state.",
        data:
          "All pictures of one stored size got one turn, so that depth, intrinsics and poses belong to every one of them.",
        remedy:
          "There is nothing to do. A program that turned some of the pictures may have written the tags."
      )
    case .notDownloaded:
      CodeWords(
        "A cloud drive holds these files, and only their placeholders are here.",
        data: "They count as absent: their frames are holes, or their stream does not apply.",
        remedy:
          "Download them on the machine that the folder comes from (\u{22}Keep Downloaded\u{22}, \u{22}Always keep on this device\u{22}, \u{22}Make available offline\u{22}), then copy the folder again.",
        cure: .copy)
    case .mixedEncodings:
      CodeWords(
        "One stream holds records of several encodings.",
        data: "Each record was read according to its own encoding; no frame is lost.",
        remedy: "There is nothing to do.")
    case .timestampsMissing:
      CodeWords(
        "Frames or samples without a time.",
        data:
          "They keep their index; tables leave their time empty and have no IMU samples for them.",
        remedy: "Use the index, not the time, for these frames.")
    case .timestampsStale:
      CodeWords(
        "Times that do not advance, or that belong to an earlier recording.",
        data: "They are left out.",
        remedy: "Use the index, not the time, for these frames.")
    case .timestampsTruncated:
      CodeWords(
        "More than a fifth of a sensor's samples repeat a time: the column lost digits on its way into the file "
          + "(a number written with seven digits, a float).",
        data:
          "No sample is dropped. Those of one stamp are spread evenly up to the next stamp, in the order of the file; "
          + "exports name that in `assumed`.",
        remedy:
          "Record with a version of the app that writes whole numbers. A copy that still has all digits replaces the "
          + "file.")
    case .timestampsUnordered:
      CodeWords(
        "Times that go backward.",
        data:
          "Samples are sorted by time; pictures stay in the order of decoding with the times as recorded.",
        remedy: "Check the rows named before you use them for motion.")
    case .timestampsDuplicate:
      CodeWords(
        "Several samples or frames with the same time.",
        data: "Of samples of one sensor at the same time, the first is kept.",
        remedy: "There is nothing to do, unless there are many: then the app wrote a block twice.")
    case .clockJump:
      CodeWords(
        "The clock of the recording jumps.",
        data: "Times before and after the jump cannot be compared.",
        remedy: "Do not combine motion before and after the jump.")
    case .frameGap:
      CodeWords(
        "Steps between frames that are longer than the frame rate allows: frames were dropped while recording.",
        data: "Indices do not shift; what the camera did not record is missing.",
        remedy:
          "A phone drops a frame now and then. Many gaps mean that it was too hot or too slow: let it cool, and free some space on it."
      )
    case .imuMissing:
      CodeWords(
        "There is no motion file.",
        data: "IMU tables are not made.",
        remedy: "Copy the file from the device if it was left behind.", cure: .copy)
    case .imuPartialRecord:
      CodeWords(
        "The motion file ends inside a record, or holds incomplete records.",
        data: "Complete records were read.",
        remedy:
          "Copy the file again if it was cut on the way. Of a capture that is one file copy that file.",
        cure: .copy)
    case .imuOutsideFrames:
      CodeWords(
        "Frames before the first or after the last motion sample.",
        data: "These frames have no samples.",
        remedy:
          "Apps start the IMU a little late. More than a second means that a part is missing: copy the file that holds the motion again if the device has more. Where the two do not meet at all the clocks differ: set imu.timeOffset if the offset is known.",
        cure: .copy)
    case .imuGap:
      CodeWords(
        "Pauses between motion samples that are longer than the sensor's rate allows.",
        data: "Nothing is filled in. Interpolation does not cross the pauses.",
        remedy: "Leave out the frames at the pauses where motion matters.")
    case .nonFiniteValue:
      CodeWords(
        "Values that are not finite numbers.",
        data: "Depth is 0 there; motion samples and poses have no row.",
        remedy: "There is nothing to do, unless there are many: then report the app's version.")
    case .unknownKey:
      CodeWords(
        "The metadata holds keys that are not known.",
        data: "They were not read; everything else was.",
        remedy: "There is nothing to do. A newer version of the app may have added them.")
    case .missingKey:
      CodeWords(
        "The metadata lacks keys that the app writes.",
        data: "The values that they would hold are unknown.",
        remedy:
          "An app that was stopped while recording leaves them out. Copy the file that holds the metadata again if the device has more.",
        cure: .copy)
    case .missingFile:
      CodeWords(
        "A file that the app writes is not there.",
        data: "What depends on it is left out, everything else is processed.",
        remedy:
          "Copy the file from the device. Of a capture that is one file copy that file: nothing can be copied into it.",
        cure: .copy)
    case .multipleStreams:
      CodeWords(
        "There are several streams of one kind.",
        data: "One was chosen; the message names it.",
        remedy: "Remove or move the others if the choice is wrong.", cure: .files)
    case .unsupportedStream:
      CodeWords(
        "A stream of a kind that is not supported.",
        data: "It was not read.",
        remedy:
          "Convert it, or move it out of the capture's folder. Report the kind of file.",
        cure: .files)
    case .rotationIgnored:
      CodeWords(
        "The video asks for a rotation that is not a multiple of 90 degrees.",
        data: "It was not applied: the pictures are as they were stored.",
        remedy: "Rotate the pictures yourself if you need them upright.")
    case .calibrationMissing:
      CodeWords(
        "No intrinsics are recorded anywhere.",
        data: "Pictures can be used, geometry cannot.",
        remedy:
          "Give a calibration file with --set aligned.calibration=FILE: depth is aligned with it.")
    case .calibrationSuspect:
      CodeWords(
        "A calibration is hardly that of the capture: cameras are meters apart, a focal length differs by more than 5 % from the recorded one, or the capture does not name the device that the calibration names.",
        data: "It is used as it stands; aligned depth and exports may be wrong.",
        remedy:
          "Check that it was made with this device and picture size, and its unit: baselines are meters, not millimeters. Then give the right one.",
        cure: .parameter)
    case .nothingLeft:
      CodeWords(
        "A stage removed everything that it read: all depth lies outside of the range, all confidence below the minimum, or no frame or sample is selected.",
        data:
          "Without a frame or point the stage is not possible, and what was made before stays. Else what it publishes is empty; the message has the counts.",
        remedy:
          "Check the parameters that the message names, and their units: depth.range=0.3m..4m. `scanmill list parameters` lists them.",
        cure: .parameter)
    case .hdrVideo:
      CodeWords(
        "The video is HDR (HLG, PQ), logarithmic or linear, or has wide primaries (P3, BT.2020): its values are not meant for an ordinary screen.",
        data:
          "The pictures are those that the ffmpeg program gives, without conversion: exact, but with little contrast.",
        remedy:
          "Set color.hdr=sdr for pictures of an ordinary screen, or linear16 or coded16 to keep their light in 16 bits; transfer and primaries are in capture.json.",
        cure: .parameter)
    case .timeOffset:
      CodeWords(
        "The clock of the IMU is ahead of the times of the pictures, or behind them, by more than half the time "
          + "from frame to frame: the rotations of camera and gyroscope agree best at that offset.",
        data:
          "Samples belong to frames as the recorded times say, unless imu.timeOffset is set; the message has the "
          + "offset and its interval.",
        remedy:
          "Apply it with --set imu.timeOffset=auto, or set it to a duration. Calibrate with Kalibr if you need it "
          + "better.", cure: .parameter)
    case .intrinsicsVary:
      CodeWords(
        "The focal length or the principal point changes from frame to frame (autofocus, stabilization), and the "
          + "format, or the calibration file, has room for one camera.",
        data:
          "One camera stands for all frames; the message says by how many pixels frames are off. More than 2 "
          + "are warned of.",
        remedy:
          "Take a format with a camera per frame (colmap, nerfstudio, scannetpp, mcap). In this one, --set STAGE.camera=median|first chooses which camera stands for all, and the warning stays. If the message names the calibration file: leave it out, and frames keep their recorded cameras.",
        cure: .parameter)
    case .implausibleUnit:
      CodeWords(
        "Values that cannot be what their column says: accelerations in g where m/s² is stated, rotations in degrees, "
          + "a column of gravity in place of a rotation, a median depth below 5 cm or above 100 m, focal lengths "
          + "outside 0.2 to 10 widths of the picture, positions that jump by kilometers.",
        data:
          "Nothing is converted; tables have the values as read. Exports that state the unit of accelerations and "
          + "rotations are not made.",
        remedy:
          "State the unit of the recorded sensors with --set imu.accelerationUnit=g (or m/s2), or "
          + "imu.rotationUnit=deg/s (or rad/s). Where depth, poses, positions or focal lengths are meant, do not use "
          + "them before you know their unit.",
        cure: .parameter)
    case .poseJump:
      CodeWords(
        "The camera's position jumps further between two frames than a hand can move it.",
        data: "Tracking was lost or found again there.",
        remedy: "Do not join geometry across the jump.")
    case .untrackedPoses:
      CodeWords(
        "Poses that the app recorded while it had lost tracking.",
        data: "They are in the tables as recorded, and are not to be trusted.",
        remedy: "Do not use them for geometry.")
    case .pairingApproximate:
      CodeWords(
        "More than one pairing of the streams is possible: they have no common clock or numbers, or those fit in several ways.",
        data:
          "One of the pairings was taken; the message says which others are possible, and by how much the data may be off.",
        remedy: "Check the pairs with the preview pipeline.")
    case .geoNoFix:
      CodeWords(
        "Positions without a fix: the receiver had no signal.",
        data: "They were left out.",
        remedy: "There is nothing to do.")
    case .geoUnordered:
      CodeWords(
        "Positions whose times go backward or do not advance.",
        data: "They were sorted or left out.",
        remedy: "Check the track before you use it.")
    case .pathOutsideCapture:
      CodeWords(
        "A name or link inside the capture leads outside of it.",
        data: "It was not followed; what it names is missing.",
        remedy:
          "Where a link leads out, copy the file itself into its place. A name in metadata or in an archive that leads out is never followed: the warning stays.",
        cure: .files)
    case .confidenceMissing:
      CodeWords(
        "Depth frames without a confidence frame, where confidence decides which values count.",
        data: "These frames are holes. Their masks leave nothing out.",
        remedy: "Leave out depth.minimumConfidence to keep them.", cure: .parameter)
    case .unlistedFile:
      CodeWords(
        "With --verify: files lie in the folder of a stage that its artifact.json does not list.",
        data:
          "They are no results, and nothing reads them. They go when the stage is made again or cleaned.",
        remedy: "Move them out of the output, or remove them.", cure: .files)
    case .masksMissing:
      CodeWords(
        "An export with masks=true of a capture for which no masks could be made.",
        data: "The frames are exported without masks: all pixels of the pictures are used.",
        remedy:
          "The outcome of the stage masks says why: set another limit for this capture, or leave out masks=true.",
        cure: .parameter)
    case .shortfall:
      CodeWords(
        "A stream has lost more of what the capture declares than the pipeline accepts (`shortfall`, 2% unless it says otherwise): a count in the metadata, the other streams that belong to it, or frames that could not be decoded say how much there was.",
        data: "Everything that is left is processed; the rest is missing from every result.",
        remedy:
          "Copy the capture from the device again. If the device has no more, record the scene again, or raise `shortfall` of the pipeline where such captures are good enough.",
        cure: .copy)
    case .sizeMismatch:
      CodeWords(
        "Pictures or depth frames whose size differs from the stated size, or whose shapes differ from each other.",
        data:
          "Intrinsics are rescaled where the shape is the same; otherwise alignment does not apply or, where no size is stated, takes depth for the whole picture.",
        remedy:
          "There is nothing to do where intrinsics were rescaled. Otherwise give a calibration made for this size with --set aligned.calibration=FILE: depth is aligned with it."
      )
    }
  }
}
