import Captures

extension WarningCode {
  /// What it means, and what to do. Without a default: a new code does not compile without its words.
  var words: (meaning: String, remedy: String) {
    switch self {
    case .frameCountMismatch:
      (
        "The app recorded another number of frames than the files hold.",
        "The files count. Check whether the upload is whole; if it is, nothing is lost."
      )
    case .colorShorterThanDepth:
      (
        "There are fewer color pictures than depth frames.",
        "The last depth frames have no color. Copy the video again if it was cut on the way."
      )
    case .depthShorterThanColor:
      (
        "There are fewer depth frames than color pictures.",
        "The last pictures have no depth. Copy the depth file again if it was cut on the way."
      )
    case .truncatedStream:
      (
        "A file ends inside a record or before its own end mark; everything before that was read.",
        "Copy the file again. If it is cut on the device as well, the app was stopped while recording."
      )
    case .trailingData:
      (
        "Bytes follow the end of a file's content; they were left out.",
        "Nothing is lost. Check whether two files were joined by mistake."
      )
    case .emptyRecord:
      (
        "Records without content: the app could not encode these frames.",
        "The frames are holes; nothing can bring them back."
      )
    case .corruptRecord:
      (
        "Records or pictures that cannot be decoded, or that the decoder had to patch up.",
        "Frames that cannot be decoded are holes at their own index. Copy the file again and compare its checksum."
      )
    case .mixedEncodings:
      (
        "One stream holds records of several encodings; each was read by its own.",
        "Nothing to do."
      )
    case .timestampsMissing:
      (
        "Frames or samples without a time.",
        "They keep their index; tables leave their time empty and have no IMU samples for them."
      )
    case .timestampsStale:
      (
        "Times that stand still or belong to an earlier recording.",
        "They are left out. Use the index, not the time, for these frames."
      )
    case .timestampsUnordered:
      (
        "Times that go back.",
        "Samples are sorted by time, pictures stay in the order of decoding with the times as recorded. Check the rows named before you use them for motion."
      )
    case .timestampsDuplicate:
      (
        "Several samples or frames with the same time; of samples of one sensor the first is kept.",
        "Nothing to do, unless there are many: then the app wrote a block twice."
      )
    case .clockJump:
      (
        "The clock of the recording jumps.",
        "Do not combine motion before and after the jump."
      )
    case .frameGap:
      (
        "Longer steps between frames than the rate of the recording: frames were dropped while recording.",
        "Indices do not shift. A phone drops a frame now and then; many gaps mean it was too hot or too slow."
      )
    case .imuMissing:
      (
        "There is no motion file.",
        "IMU tables are not made. Copy the file if it was left behind."
      )
    case .imuPartialRecord:
      (
        "The motion file ends inside a record, or holds records that are not whole; whole records were read.",
        "Copy the file again if it was cut on the way."
      )
    case .imuOutsideFrames:
      (
        "Frames before the first or after the last motion sample.",
        "They have no samples. Apps start the IMU a little late; more than a second means that a part is missing."
      )
    case .imuGap:
      (
        "Longer pauses between motion samples than the rate of the sensor.",
        "Nothing is filled in. Interpolation does not cross the pauses."
      )
    case .nonFiniteValue:
      (
        "Values that are no finite numbers.",
        "Depth is 0 there, motion samples and poses have no row."
      )
    case .unknownKey:
      (
        "The metadata holds keys that are not known; they were not read.",
        "Nothing to do. A newer version of the app may have added them."
      )
    case .missingKey:
      (
        "The metadata lacks keys that the app writes.",
        "What they would tell is unknown. An app that was stopped while recording leaves them out."
      )
    case .missingFile:
      (
        "A file that the app writes is not there.",
        "Copy it from the device. What depends on it is left out, everything else is processed."
      )
    case .multipleStreams:
      (
        "There are several streams of one kind; one was chosen.",
        "The message names the chosen one. Remove or move the others if the choice is wrong."
      )
    case .unsupportedStream:
      (
        "A stream of a kind that is not supported; it was not read.",
        "Convert it, or report the kind of file."
      )
    case .rotationIgnored:
      (
        "The video asks for a turn that is no multiple of 90 degrees; it was not applied.",
        "Turn the pictures yourself if you need them upright."
      )
    case .calibrationMissing:
      (
        "No intrinsics are recorded anywhere.",
        "Pictures can be used, geometry cannot. Give a calibration file with --set aligned.calibration=FILE."
      )
    case .calibrationSuspect:
      (
        "A calibration states something that no such device has, such as cameras meters apart.",
        "It is used as it stands. Check its unit: baselines are meters, not millimeters."
      )
    case .poseJump:
      (
        "The camera's position jumps further between two frames than a hand can move it.",
        "Tracking was lost or found again there. Do not join geometry across the jump."
      )
    case .untrackedPoses:
      (
        "Poses that the app recorded while it had lost tracking.",
        "Do not use them for geometry."
      )
    case .pairingApproximate:
      (
        "Pictures are paired by order or by the start of the recording, because no common clock was recorded.",
        "Expect an error of a frame or more. Check with the preview pipeline."
      )
    case .geoNoFix:
      (
        "Positions without a fix; they were left out.",
        "Nothing to do: the receiver had no signal."
      )
    case .geoUnordered:
      (
        "Positions whose times go back or stand still; they were sorted or left out.",
        "Check the track before you use it."
      )
    case .pathOutsideCapture:
      (
        "A name or link inside the capture leads outside of it; it was not followed.",
        "Copy the file itself into the capture's folder."
      )
    case .confidenceMissing:
      (
        "Depth frames without a confidence frame, where confidence decides which values count.",
        "These frames are holes. Leave depth.minimumConfidence away to keep them."
      )
    case .sizeMismatch:
      (
        "Pictures or depth frames of another size than stated.",
        "Intrinsics are rescaled where the shape is the same; otherwise alignment does not apply. Give a calibration made for this size."
      )
    }
  }
}
