// Cayenne LPP: a decoder for devices whose network server decoded this format itself.

/**
 * A decoder script. Keys are the quantity and the channel, such as `temperature_1`, as The Things
 * Stack names them. An unknown type ends decoding with a warning, because its length is unknown.
 */
export const cayenneLppDecoder = `// Cayenne LPP: channel, type and value, one after the other.
var types = {
  0: ['digital_in', 1, 1, false], 1: ['digital_out', 1, 1, false],
  2: ['analog_in', 2, 0.01, true], 3: ['analog_out', 2, 0.01, true],
  100: ['generic_sensor', 4, 1, false], 101: ['luminosity', 2, 1, false],
  102: ['presence', 1, 1, false], 103: ['temperature', 2, 0.1, true],
  104: ['relative_humidity', 1, 0.5, false], 115: ['barometric_pressure', 2, 0.1, false],
  116: ['voltage', 2, 0.01, false], 117: ['current', 2, 0.001, false],
  118: ['frequency', 4, 1, false], 120: ['percentage', 1, 1, false],
  121: ['altitude', 2, 1, true], 128: ['power', 2, 1, false],
  130: ['distance', 4, 0.001, false], 131: ['energy', 4, 0.001, false],
  132: ['direction', 2, 1, false], 133: ['unix_time', 4, 1, false], 142: ['switch', 1, 1, false]
};

function numberAt(bytes, at, size, factor, isSigned) {
  var value = 0;
  for (var i = 0; i < size; i++) value = value * 256 + bytes[at + i];
  if (isSigned && bytes[at] > 127) value -= Math.pow(256, size);
  return Math.round(value * factor * 1e6) / 1e6;
}

function vectorAt(bytes, at, names, size, factors) {
  var vector = {};
  names.forEach(function (name, i) {
    vector[name] = numberAt(bytes, at + i * size, size, factors[i], true);
  });
  return vector;
}

function decodeUplink(input) {
  var bytes = input.bytes;
  var data = {};
  for (var at = 0; at + 2 < bytes.length; ) {
    var channel = bytes[at++];
    var type = bytes[at++];
    if (type === 113) {
      data['accelerometer_' + channel] = vectorAt(bytes, at, ['x', 'y', 'z'], 2, [0.001, 0.001, 0.001]);
      at += 6;
    } else if (type === 134) {
      data['gyrometer_' + channel] = vectorAt(bytes, at, ['x', 'y', 'z'], 2, [0.01, 0.01, 0.01]);
      at += 6;
    } else if (type === 136) {
      data['gps_' + channel] = vectorAt(bytes, at, ['latitude', 'longitude', 'altitude'], 3, [1e-4, 1e-4, 0.01]);
      at += 9;
    } else if (types[type] === undefined) {
      return { data: data, warnings: ['unknown type ' + type] };
    } else {
      var known = types[type];
      data[known[0] + '_' + channel] = numberAt(bytes, at, known[1], known[2], known[3]);
      at += known[1];
    }
  }
  return { data: data };
}
`;
