import Captures

extension WarningCode {
  /// What makes it go away.
  var cure: Cure { CodeReference[rawValue]?.cure ?? .none }
}

extension CodeReference {
  static let warnings = """
    frame-count-mismatch copy
    Streams of one recording have different numbers of items.
    All items are used. Where they carry numbers or times, those that are left have their places,
      and the message names those that are missing.
    Check whether the upload is complete. If the message does not name what is missing, everything
      behind the first loss may belong to later frames, by up to the count: compare pictures and
      depth with the preview pipeline before you use them together.

    color-shorter-than-depth copy
    There are fewer color pictures than depth frames.
    The last depth frames have no color.
    Copy the video, or the pictures, again if they were cut on the way. If the device has no more,
      the app was stopped while recording.

    depth-shorter-than-color copy
    There are fewer depth frames than color pictures.
    The last pictures have no depth.
    Copy the file that holds the depth again if it was cut on the way. If the device has no more,
      the app was stopped while recording.

    truncated-stream copy
    A file ends inside a record or before its own end mark.
    Everything before that place was read; what follows is missing.
    Copy the file again. Of a capture that is one file copy that file: nothing can be copied into
      it. If it is cut on the device as well, the app was stopped while recording.

    trailing-data copy
    Bytes follow the end of a file's content.
    They were left out; no frame is lost.
    Compare its size with that on the device, and copy the file again where they differ: two files
      may have been joined by mistake. If the device has the same, there is nothing to do.

    empty-record
    Records without content: the app could not encode these frames.
    These frames are holes at their own index.
    There is nothing to do: they cannot be recovered.

    corrupt-record copy
    Records or pictures that cannot be decoded, or that the decoder had to patch up.
    Frames that cannot be decoded are holes at their own index.
    Copy the file again and compare its checksum with that on the device. Of a capture that is one
      file copy that file: nothing can be copied into it. If they are the same, it was damaged while
      recording.

    mixed-encodings
    One stream holds records of several encodings.
    Each record was read according to its own encoding; no frame is lost.
    There is nothing to do.

    timestamps-missing
    Frames or samples without a time.
    They keep their index; tables leave their time empty and have no IMU samples for them.
    Use the index, not the time, for these frames.

    timestamps-stale
    Times that do not advance, or that belong to an earlier recording.
    They are left out.
    Use the index, not the time, for these frames.

    timestamps-truncated
    More than a fifth of a sensor's samples repeat a time: the column lost digits on its way into
      the file (a number written with seven digits, a float).
    No sample is dropped. Those of one stamp are spread evenly up to the next stamp, in the order of
      the file; exports name that in `assumed`.
    Record with a version of the app that writes whole numbers. A copy that still has all digits
      replaces the file.

    timestamps-unordered
    Times that go backward.
    Samples are sorted by time; pictures stay in the order of decoding with the times as recorded.
    Check the rows named before you use them for motion.

    timestamps-duplicate
    Several samples or frames with the same time.
    Of samples of one sensor at the same time, the first is kept.
    There is nothing to do, unless there are many: then the app wrote a block twice.

    clock-jump
    The clock of the recording jumps.
    Times before and after the jump cannot be compared.
    Do not combine motion before and after the jump.

    frame-gap
    Steps between frames that are longer than the frame rate allows: frames were dropped while
      recording.
    Indices do not shift; what the camera did not record is missing.
    A phone drops a frame now and then. Many gaps mean that it was too hot or too slow: let it cool,
      and free some space on it.

    imu-missing copy
    There is no motion file.
    IMU tables are not made.
    Copy the file from the device if it was left behind.

    imu-partial-record copy
    The motion file ends inside a record, or holds incomplete records.
    Complete records were read.
    Copy the file again if it was cut on the way. Of a capture that is one file copy that file.

    imu-outside-frames copy
    Frames before the first or after the last motion sample.
    These frames have no samples.
    Apps start the IMU a little late. More than a second means that a part is missing: copy the file
      that holds the motion again if the device has more.

    imu-gap
    Pauses between motion samples that are longer than the sensor's rate allows.
    Nothing is filled in. Interpolation does not cross the pauses.
    Leave out the frames at the pauses where motion matters.

    non-finite-value
    Values that are not finite numbers.
    Depth is 0 there; motion samples and poses have no row.
    There is nothing to do, unless there are many: then report the app's version.

    unknown-key
    The metadata holds keys that are not known.
    They were not read; everything else was.
    There is nothing to do. A newer version of the app may have added them.

    missing-key copy
    The metadata lacks keys that the app writes.
    The values that they would hold are unknown.
    An app that was stopped while recording leaves them out. Copy the file that holds the metadata
      again if the device has more.

    missing-file copy
    A file that the app writes is not there.
    What depends on it is left out, everything else is processed.
    Copy the file from the device. Of a capture that is one file copy that file: nothing can be
      copied into it.

    multiple-streams files
    There are several streams of one kind.
    One was chosen; the message names it.
    Remove or move the others if the choice is wrong.

    unsupported-stream files
    A stream of a kind that is not supported.
    It was not read.
    Convert it, or move it out of the capture's folder. Report the kind of file.

    rotation-ignored
    The video asks for a rotation that is not a multiple of 90 degrees.
    It was not applied: the pictures are as they were stored.
    Rotate the pictures yourself if you need them upright.

    calibration-missing
    No intrinsics are recorded anywhere.
    Pictures can be used, geometry cannot.
    Give a calibration file with --set aligned.calibration=FILE: depth is aligned with it.

    pose-jump
    The camera's position jumps further between two frames than a hand can move it.
    Tracking was lost or found again there.
    Do not join geometry across the jump.

    untracked-poses
    Poses that the app recorded while it had lost tracking.
    They are in the tables as recorded, and are not to be trusted.
    Do not use them for geometry.

    pairing-approximate
    More than one pairing of the streams is possible: they have no common clock or numbers, or those
      fit in several ways.
    One of the pairings was taken; the message says which others are possible, and by how much the
      data may be off.
    Check the pairs with the preview pipeline.

    geo-no-fix
    Positions without a fix: the receiver had no signal.
    They were left out.
    There is nothing to do.

    geo-unordered
    Positions whose times go backward or do not advance.
    They were sorted or left out.
    Check the track before you use it.

    path-outside-capture files
    A name or link inside the capture leads outside of it.
    It was not followed; what it names is missing.
    Where a link leads out, copy the file itself into its place. A name in metadata or in an archive
      that leads out is never followed: the warning stays.

    size-mismatch
    Pictures or depth frames whose size differs from the stated size.
    Intrinsics are rescaled where the shape is the same; otherwise alignment does not apply.
    There is nothing to do where intrinsics were rescaled. Otherwise give a calibration made for
      this size with --set aligned.calibration=FILE: depth is aligned with it.

    confidence-missing parameter
    Depth frames without a confidence frame, where confidence decides which values count.
    These frames are holes.
    Leave out depth.minimumConfidence to keep them.

    calibration-suspect parameter
    A calibration is hardly that of the capture: cameras are meters apart, a focal length differs by
      more than 5 % from the recorded one, or the capture does not name the device that the
      calibration names.
    It is used as it stands; aligned depth and exports may be wrong.
    Check that it was made with this device and picture size, and its unit: baselines are meters,
      not millimeters. Then give the right one.

    nothing-left parameter
    A stage removed everything that it read: all depth lies outside of the range, all confidence
      below the minimum, or no frame or sample is selected.
    Without a frame or point the stage is not possible, and what was made before stays. Else what it
      publishes is empty; the message has the counts.
    Check the parameters that the message names, and their units: depth.range=0.3m..4m. `scanmill
      list parameters` lists them.

    hdr-video parameter
    The video is HDR (HLG, PQ), logarithmic or linear, or has wide primaries (P3, BT.2020): its
      values are not meant for an ordinary screen.
    The pictures are those that the ffmpeg program gives, without conversion: exact, but with little
      contrast.
    Set color.hdr=sdr for pictures of an ordinary screen, or linear16 or coded16 to keep their light
      in 16 bits; transfer and primaries are in capture.json.

    time-offset parameter
    The clock of the IMU is ahead of the times of the pictures, or behind them, by more than half
      the time from frame to frame: the rotations of camera and gyroscope agree best at that offset.
    Samples belong to frames as the recorded times say, unless imu.timeOffset is set; the message
      has the offset and its interval.
    Apply it with --set imu.timeOffset=auto, or set it to a duration. Calibrate with Kalibr if you
      need it better.

    shortfall copy
    A stream has lost more of what the capture declares than the pipeline accepts (`shortfall`, 2%
      unless it says otherwise): a count in the metadata, the other streams that belong to it, or
      frames that could not be decoded say how much there was.
    Everything that is left is processed; the rest is missing from every result.
    Copy the capture from the device again. If the device has no more, record the scene again, or
      raise `shortfall` of the pipeline where such captures are good enough.

    intrinsics-vary parameter
    The focal length or the principal point changes from frame to frame (autofocus, stabilization),
      and the format, or the calibration file, has room for one camera.
    One camera stands for all frames; the message says by how many pixels frames are off. More than
      2 are warned of.
    Take a format with a camera per frame (colmap, nerfstudio, scannetpp, mcap). In this one, --set
      STAGE.camera=median|first chooses which camera stands for all, and the warning stays. If the
      message names the calibration file: leave it out, and frames keep their recorded cameras.

    mixed-orientations
    Some pictures state an EXIF orientation that others do not state.
    All pictures of one stored size got one turn, so that depth, intrinsics and poses belong to
      every one of them.
    There is nothing to do. A program that turned some of the pictures may have written the tags.

    not-downloaded copy
    A cloud drive holds these files, and only their placeholders are here.
    They count as absent: their frames are holes, or their stream does not apply.
    Download them on the machine that the folder comes from ("Keep Downloaded", "Always keep on this
      device", "Make available offline"), then copy the folder again.

    implausible-unit parameter
    Values that cannot be what their column says: accelerations in g where m/s² is stated, rotations
      in degrees, a column of gravity in place of a rotation, a median depth below 5 cm or above 100
      m, focal lengths outside 0.2 to 10 widths of the picture, positions that jump by kilometers.
    Nothing is converted; tables have the values as read. Exports that state the unit of
      accelerations and rotations are not made.
    State the unit of the recorded sensors with --set imu.accelerationUnit=g (or m/s2), or
      imu.rotationUnit=deg/s (or rad/s). Where depth, poses, positions or focal lengths are meant,
      do not use them before you know their unit.
    """
}
