// Payload codecs inside the guest, LoRa Alliance TS013 and older: what they return becomes what a script would have emitted.
// oxlint-disable no-unused-expressions -- The file is one function, which the host calls.
(function (api) {
  'use strict';
  const { stringify } = JSON;

  function bytesOf(hex) {
    const bytes = [];
    if (typeof hex === 'string') for (let i = 0; i + 1 < hex.length; i += 2) bytes.push(parseInt(hex.slice(i, i + 2), 16));
    return bytes;
  }

  function hexOf(bytes) {
    let hex = '';
    for (let i = 0; i < bytes.length; i++) hex += (256 + (Number(bytes[i]) & 255)).toString(16).slice(1);
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

  const entries = {
    decodeUplink: {
      input(event) {
        const data = event.data || {};
        const recvTime = event.timestamp === undefined ? new Date() : new Date(event.timestamp);
        return { bytes: bytesOf(data.payloadHex), fPort: data.port, recvTime, variables: variablesOf(event) };
      },
      output(output) {
        api.emitNamed('SAMPLE', { data: output.data });
      },
    },
    encodeDownlink: {
      input(event) {
        return { data: event.payload, fPort: event.port, variables: variablesOf(event) };
      },
      output(output, event) {
        const port = output.fPort === undefined ? event.port : output.fPort;
        api.emitNamed('DOWNLINK', { port, confirmed: event.confirmed, payloadHex: hexOf(output.bytes || []) });
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
    decodeUplink(codec) {
      if (typeof codec.Decode === 'function')
        return ({ bytes, fPort, variables }) => ({ data: codec.Decode(fPort, bytes, variables) });
      if (typeof codec.Decoder !== 'function') return undefined;
      return function ({ bytes, fPort }) {
        let data = codec.Decoder(bytes, fPort);
        if (typeof codec.Converter === 'function') data = codec.Converter(data, fPort);
        if (typeof codec.Validator === 'function' && codec.Validator(data, fPort) === false)
          return { errors: ['Validator refused the payload'] };
        return { data };
      };
    },
    encodeDownlink(codec) {
      if (typeof codec.Encode === 'function')
        return ({ data, fPort, variables }) => ({ bytes: codec.Encode(fPort, data, variables) });
      if (typeof codec.Encoder !== 'function') return undefined;
      return ({ data, fPort }) => ({ bytes: codec.Encoder(data, fPort) });
    },
    decodeDownlink: () => undefined,
  };

  const quiet = function () {};
  const quietConsole = { log: quiet, info: quiet, warn: quiet, error: quiet, debug: quiet, trace: quiet };

  api.runCodec = function (wrapper, entry, event) {
    const functions = wrapper({ exports: {} }, quietConsole);
    const codec = typeof functions[entry] === 'function' ? functions[entry] : oldForms[entry](functions);
    if (typeof codec !== 'function') {
      api.fail(entry + ' is not defined in this payload codec', '', 0);
      return undefined;
    }
    const { input, output } = entries[entry];
    const result = codec(input(event));
    const finish = function (value) {
      if (succeeded(value, entry)) output(value, event);
    };
    if (result !== null && typeof result === 'object' && typeof result.then === 'function') return result.then(finish);
    finish(result);
    return undefined;
  };
});
