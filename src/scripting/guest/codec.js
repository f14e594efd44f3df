// Payload codecs inside the guest, LoRa Alliance TS013 and older: what they return becomes what a script would have emitted.
// oxlint-disable no-unused-expressions -- The file is one function, which the host calls.
(function (api) {
  'use strict';
  const { stringify } = JSON;
  const { isArray } = Array;
  const { apply } = Reflect;

  function bytesOf(hex) {
    const bytes = [];
    if (typeof hex === 'string') for (let i = 0; i + 1 < hex.length; i += 2) bytes.push(parseInt(hex.slice(i, i + 2), 16));
    return bytes;
  }

  const isBytes = (value) => isArray(value) || ArrayBuffer.isView(value);

  function describe(value) {
    if (typeof value === 'string') return stringify(value);
    if (isArray(value)) return 'an array';
    return value === null || typeof value !== 'object' ? String(value) : 'an object';
  }

  /** The bytes of a downlink as hexadecimal digits; undefined when there are none, which is told with the element. */
  function hexOf(bytes, entry) {
    if (!isBytes(bytes)) {
      api.fail(entry + ' must return bytes, an array of numbers from 0 to 255; its bytes is ' + describe(bytes), '', 0);
      return undefined;
    }
    let hex = '';
    for (let i = 0; i < bytes.length; i++) {
      const value = bytes[i];
      const number = typeof value === 'boolean' || typeof value === 'bigint' ? Number(value) : value;
      if (typeof number !== 'number' || number - number !== 0) {
        api.fail(entry + ' returned bytes[' + i + '] ' + describe(value) + '; it must be a number from 0 to 255', '', 0);
        return undefined;
      }
      const byte = number & 255;
      // Signed bytes are usual. What else is no byte would be sent as another value in silence.
      if (byte !== number && byte - 256 !== number)
        api.warn(entry + ' returned bytes[' + i + '] ' + number + ', which is no byte; ' + byte + ' is sent');
      hex += (256 + byte).toString(16).slice(1);
    }
    return hex;
  }

  function textOf(item) {
    if (typeof item === 'string') return item;
    return item !== null && typeof item === 'object' && typeof item.message === 'string' ? item.message : stringify(item);
  }

  function listOf(items) {
    if (items === undefined || items === null) return [];
    return Array.isArray(items) ? items : [items];
  }

  // Warnings are told in any case; errors mean that there is no data.
  function succeeded(output, entry) {
    if (output === null || typeof output !== 'object') {
      api.fail(entry + ' returned no object', '', 0);
      return false;
    }
    for (const item of listOf(output.warnings)) api.warn(textOf(item));
    const errors = listOf(output.errors);
    for (const item of errors) api.fail(textOf(item), '', 0);
    return errors.length === 0;
  }

  // Network servers keep the variables of a device as strings, and codecs parse them.
  function variablesOf(event) {
    const fields = (event.device && event.device.customFields) || {};
    const variables = {};
    for (const name in fields) {
      const value = fields[name];
      if (value === null || value === undefined) continue;
      variables[name] = typeof value === 'string' ? value : stringify(value);
    }
    return variables;
  }

  // The measurements of normalizeUplink are samples of their own topic, beside the data as the device sent it.
  function normalize(find, output) {
    const normalizer = find('normalizeUplink');
    if (!normalizer) return undefined;
    return whenDone(normalizer({ data: output.data }), function (normalized) {
      if (!succeeded(normalized, 'normalizeUplink')) return;
      for (const measurement of listOf(normalized.data)) {
        const time = measurement === null ? undefined : measurement.time;
        const sample = { data: measurement, topic: 'normalized' };
        if (time !== undefined) sample.timestamp = time;
        api.emit('sample', sample);
      }
    });
  }

  function whenDone(result, next) {
    if (result !== null && typeof result === 'object' && typeof result.then === 'function') return result.then(next);
    return next(result);
  }

  const entries = {
    decodeUplink: {
      input(event) {
        const data = event.data || {};
        if (event.data && typeof data.payloadHex !== 'string') {
          api.fail('decodeUplink needs bytes, and event.data has no payloadHex; declare the encoding Bytes', '', 0);
          return undefined;
        }
        const recvTime = event.timestamp === undefined ? new Date() : new Date(event.timestamp);
        return { bytes: bytesOf(data.payloadHex), fPort: data.port ?? 1, recvTime, variables: variablesOf(event) };
      },
      output(output) {
        api.emit('sample', { data: output.data });
      },
      then: normalize,
    },
    encodeDownlink: {
      input(event) {
        return { data: event.payload, fPort: event.port, variables: variablesOf(event) };
      },
      output(output, event) {
        const payloadHex = hexOf(output.bytes, 'encodeDownlink');
        if (payloadHex === undefined) return;
        const port = output.fPort === undefined ? event.port : output.fPort;
        api.emitNamed('DOWNLINK', { port, confirmed: event.confirmed, payloadHex });
      },
    },
    decodeDownlink: {
      input(event) {
        return { bytes: bytesOf(event.payloadHex), fPort: event.port };
      },
      output(output, event) {
        api.emitNamed('DOWNLINK', { port: event.port, confirmed: event.confirmed, payload: output.data });
      },
    },
  };

  // Functions of ChirpStack 3 and of The Things Network 2, in the place of a TS013 function that the codec does not have.
  const oldForms = {
    decodeUplink(find) {
      const decode = find('Decode');
      if (decode) return ({ bytes, fPort, variables }) => ({ data: decode(fPort, bytes, variables) });
      const decoder = find('Decoder');
      if (!decoder) return undefined;
      const converter = find('Converter');
      const validator = find('Validator');
      return function ({ bytes, fPort }) {
        let data = decoder(bytes, fPort);
        if (converter) data = converter(data, fPort);
        if (validator && validator(data, fPort) === false) return { errors: ['The validator rejected the payload'] };
        return { data };
      };
    },
    encodeDownlink(find) {
      const encode = find('Encode');
      if (encode) return ({ data, fPort, variables }) => ({ bytes: encode(fPort, data, variables) });
      const encoder = find('Encoder');
      return encoder && (({ data, fPort }) => ({ bytes: encoder(data, fPort) }));
    },
    decodeDownlink: () => undefined,
  };

  const quiet = function () {};

  /** The globals that codecs find in other servers. A codec may declare these names itself. */
  api.openCodec = function (defineGlobal) {
    const module = { exports: {} };
    defineGlobal('module', module);
    defineGlobal('exports', module.exports);
    defineGlobal('console', { log: quiet, info: quiet, warn: quiet, error: quiet, debug: quiet, trace: quiet });
  };

  const isHolder = (value) => value !== null && (typeof value === 'object' || typeof value === 'function');

  // A declared function wins over what the codec left in `module` and `exports`. A function of theirs is called as their
  // method, because it may call others of them.
  function functionNamed(name, { declared, module, exports }) {
    if (typeof declared[name] === 'function') return declared[name];
    for (const holder of [isHolder(module) ? module.exports : undefined, exports]) {
      if (!isHolder(holder) || typeof holder[name] !== 'function') continue;
      const method = holder[name];
      return (...args) => apply(method, holder, args);
    }
    return undefined;
  }

  /** Continues with the value of the codec's script. */
  api.runCodec = function (script, entry, event) {
    const find = (name) => functionNamed(name, script);
    const codec = find(entry) || oldForms[entry](find);
    if (codec === undefined) {
      api.fail(entry + ' is not defined in this payload codec', '', 0);
      return undefined;
    }
    const { input, output, then } = entries[entry];
    const given = input(event);
    if (given === undefined) return undefined;
    return whenDone(codec(given), function (value) {
      if (!succeeded(value, entry)) return undefined;
      output(value, event);
      return then && then(find, value);
    });
  };
});
