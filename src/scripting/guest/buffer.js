// The global Buffer inside the guest, with the members of Node's that payload codecs use.
// Only images of scripts that name it have it.
// oxlint-disable no-unused-expressions -- The file is one function, which the host calls.
(function () {
  'use strict';
  const { construct } = Reflect;
  const { fromCharCode, fromCodePoint } = String;
  const isObject = (value) => typeof value === 'object' && value !== null;
  const digits = '0123456789abcdef';
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

  /** As in Node, `new Buffer(x)` and `Buffer(x)` are `Buffer.from(x)`, and of a number `Buffer.alloc(x)`. */
  function Buffer(value, second, length) {
    return typeof value === 'number' ? alloc(value) : from(value, second, length);
  }
  Object.setPrototypeOf(Buffer, Uint8Array);
  Buffer.prototype = Object.create(Uint8Array.prototype, {
    constructor: { value: Buffer, writable: true, configurable: true },
  });
  const { prototype } = Buffer;
  const created = (...args) => construct(Uint8Array, args, Buffer);

  function failure(Kind, code, message) {
    return Object.assign(new Kind(message), { code });
  }
  function wrongType(name, wanted, value) {
    const found = isObject(value) || typeof value === 'function' ? 'an ' + typeof value : String(value);
    return failure(TypeError, 'ERR_INVALID_ARG_TYPE', 'The argument ' + name + ' must be ' + wanted + '; it is ' + found);
  }
  function outOfRange(name, range, value) {
    return failure(RangeError, 'ERR_OUT_OF_RANGE', 'The value of ' + name + ' must be ' + range + '; it is ' + String(value));
  }

  // ---- texts

  const encodings = {
    __proto__: null,
    utf8: [utf8Bytes, utf8Text],
    hex: [hexBytes, hexText],
    base64: [base64Bytes, (bytes, start, end) => base64Text(bytes, start, end, '+/', '=')],
    base64url: [base64Bytes, (bytes, start, end) => base64Text(bytes, start, end, '-_', '')],
    latin1: [latin1Bytes, (bytes, start, end) => charText(bytes, start, end, 255)],
    ascii: [latin1Bytes, (bytes, start, end) => charText(bytes, start, end, 127)],
    utf16le: [utf16Bytes, utf16Text],
  };
  const otherNames = { __proto__: null, 'utf-8': 'utf8', binary: 'latin1', ucs2: 'utf16le', 'ucs-2': 'utf16le', 'utf-16le': 'utf16le' };

  function encodingNamed(name) {
    const lower = String(name).toLowerCase();
    return encodings[otherNames[lower] || lower];
  }
  function encodingOf(name) {
    if (name === undefined || name === null || name === '') return encodings.utf8;
    const encoding = encodingNamed(name);
    if (encoding === undefined) throw failure(TypeError, 'ERR_UNKNOWN_ENCODING', 'Unknown encoding: ' + String(name));
    return encoding;
  }

  function utf8Bytes(text) {
    const bytes = [];
    for (let i = 0; i < text.length; i++) {
      let code = text.charCodeAt(i);
      if (code >= 0xd800 && code <= 0xdfff) {
        const low = code < 0xdc00 && i + 1 < text.length ? text.charCodeAt(i + 1) : 0;
        if (low >= 0xdc00 && low <= 0xdfff) {
          code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
          i += 1;
        } else code = 0xfffd;
      }
      if (code < 0x80) bytes.push(code);
      else if (code < 0x800) bytes.push(0xc0 | (code >> 6), 0x80 | (code & 63));
      else if (code < 0x10000) bytes.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
      else
        bytes.push(0xf0 | (code >> 18), 0x80 | ((code >> 12) & 63), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
    }
    return bytes;
  }

  // What is no UTF-8 is U+FFFD, once for each longest part that begins as a character does.
  function utf8Text(bytes, start, end) {
    let text = '';
    for (let i = start; i < end; ) {
      const first = bytes[i++];
      if (first < 0x80) {
        text += fromCharCode(first);
        continue;
      }
      const more = first >= 0xc2 && first < 0xe0 ? 1 : first >= 0xe0 && first < 0xf0 ? 2 : first >= 0xf0 && first < 0xf5 ? 3 : 0;
      let lowest = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
      let highest = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
      let code = first & (0x7f >> (more + 1));
      let taken = 0;
      while (taken < more && i < end && bytes[i] >= lowest && bytes[i] <= highest) {
        code = (code << 6) | (bytes[i++] & 63);
        taken += 1;
        lowest = 0x80;
        highest = 0xbf;
      }
      text += taken === more && more > 0 ? fromCodePoint(code) : '\ufffd';
    }
    return text;
  }

  function hexDigit(code) {
    if (code >= 48 && code <= 57) return code - 48;
    const letter = (code | 32) - 87;
    return letter >= 10 && letter <= 15 ? letter : -1;
  }
  function hexBytes(text) {
    const bytes = [];
    for (let i = 0; i + 1 < text.length; i += 2) {
      const high = hexDigit(text.charCodeAt(i));
      const low = hexDigit(text.charCodeAt(i + 1));
      if (high < 0 || low < 0) break;
      bytes.push(high * 16 + low);
    }
    return bytes;
  }
  function hexText(bytes, start, end) {
    let text = '';
    for (let i = start; i < end; i++) text += digits[bytes[i] >> 4] + digits[bytes[i] & 15];
    return text;
  }

  function sixBits(code) {
    if (code >= 65 && code <= 90) return code - 65;
    if (code >= 97 && code <= 122) return code - 71;
    if (code >= 48 && code <= 57) return code + 4;
    if (code === 43 || code === 45) return 62;
    return code === 47 || code === 95 ? 63 : -1;
  }
  // Both alphabets; other characters are passed over, and the text ends at the first "=".
  function base64Bytes(text) {
    const bytes = [];
    let bits = 0;
    let count = 0;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code === 61) break;
      const value = sixBits(code);
      if (value < 0) continue;
      bits = (bits << 6) | value;
      count += 6;
      if (count < 8) continue;
      count -= 8;
      bytes.push((bits >> count) & 255);
      bits &= (1 << count) - 1;
    }
    return bytes;
  }
  function base64Text(bytes, start, end, lastTwo, padding) {
    const alphabet = letters + lastTwo;
    let text = '';
    for (let i = start; i < end; i += 3) {
      const two = i + 1 < end;
      const three = i + 2 < end;
      const bits = (bytes[i] << 16) | (two ? bytes[i + 1] << 8 : 0) | (three ? bytes[i + 2] : 0);
      text += alphabet[bits >> 18] + alphabet[(bits >> 12) & 63];
      text += (two ? alphabet[(bits >> 6) & 63] : padding) + (three ? alphabet[bits & 63] : padding);
    }
    return text;
  }

  function latin1Bytes(text) {
    const bytes = [];
    for (let i = 0; i < text.length; i++) bytes.push(text.charCodeAt(i) & 255);
    return bytes;
  }
  function charText(bytes, start, end, mask) {
    let text = '';
    for (let i = start; i < end; i++) text += fromCharCode(bytes[i] & mask);
    return text;
  }
  function utf16Bytes(text) {
    const bytes = [];
    for (let i = 0; i < text.length; i++) bytes.push(text.charCodeAt(i) & 255, text.charCodeAt(i) >> 8);
    return bytes;
  }
  function utf16Text(bytes, start, end) {
    let text = '';
    for (let i = start; i + 1 < end; i += 2) text += fromCharCode(bytes[i] | (bytes[i + 1] << 8));
    return text;
  }

  // ---- making buffers

  function alloc(size, fill, encoding) {
    if (typeof size !== 'number') throw wrongType('size', 'a number', size);
    if (!(size >= 0 && size <= 0x7fffffff)) throw outOfRange('size', '0 to 2147483647', size);
    const buffer = created(size);
    if (fill !== undefined && fill !== 0 && size > 0) buffer.fill(fill, encoding);
    return buffer;
  }

  function from(value, second, length) {
    if (typeof value === 'string') return created(encodingOf(second)[0](value));
    if (!isObject(value)) throw wrongType('value', 'a string, an array, a Buffer or an ArrayBuffer', value);
    if (value instanceof ArrayBuffer) {
      const offset = second === undefined ? 0 : Number(second) || 0;
      if (offset < 0 || offset > value.byteLength)
        throw failure(RangeError, 'ERR_BUFFER_OUT_OF_BOUNDS', 'The offset is outside of the ArrayBuffer');
      if (length === undefined) return created(value, offset);
      const count = Math.max(0, Number(length) || 0);
      if (count > value.byteLength - offset)
        throw failure(RangeError, 'ERR_BUFFER_OUT_OF_BOUNDS', 'The length is outside of the ArrayBuffer');
      return created(value, offset, count);
    }
    const primitive = typeof value.valueOf === 'function' ? value.valueOf() : value;
    if (typeof primitive === 'string' || (isObject(primitive) && primitive !== value)) return from(primitive, second, length);
    if (typeof value.length === 'number') return created(value.length > 0 ? Array.prototype.slice.call(value) : 0);
    if (value.type === 'Buffer' && Array.isArray(value.data)) return created(value.data);
    if ('length' in value) return created(0);
    throw wrongType('value', 'a string, an array, a Buffer or an ArrayBuffer', value);
  }

  function bytesNamed(name, value) {
    if (value instanceof Uint8Array) return value;
    throw wrongType(name, 'a Buffer or a Uint8Array', value);
  }

  function compared(a, b) {
    const length = Math.min(a.length, b.length);
    for (let i = 0; i < length; i++) if (a[i] !== b[i]) return a[i] < b[i] ? -1 : 1;
    return a.length === b.length ? 0 : a.length < b.length ? -1 : 1;
  }

  define(Buffer, {
    from,
    alloc,
    allocUnsafe: (size) => alloc(size),
    allocUnsafeSlow: (size) => alloc(size),
    concat(list, total) {
      if (!Array.isArray(list)) throw wrongType('list', 'an array', list);
      list.forEach((bytes, i) => bytesNamed('list[' + i + ']', bytes));
      const length = total === undefined ? list.reduce((sum, bytes) => sum + bytes.length, 0) : total;
      const joined = alloc(length);
      let at = 0;
      for (const bytes of list) {
        if (at >= length) break;
        joined.set(at + bytes.length > length ? bytes.subarray(0, length - at) : bytes, at);
        at += bytes.length;
      }
      return joined;
    },
    isBuffer: (value) => value instanceof Buffer,
    isEncoding: (name) => typeof name === 'string' && name !== '' && encodingNamed(name) !== undefined,
    byteLength(value, encoding) {
      if (typeof value === 'string') {
        const known = encoding === undefined || encoding === null ? undefined : encodingNamed(encoding);
        // Node counts what the digits would give, valid or not.
        if (known === encodings.hex) return value.length >>> 1;
        if (known === encodings.base64 || known === encodings.base64url) {
          const padding = value.endsWith('==') ? 2 : value.endsWith('=') ? 1 : 0;
          return ((value.length - (value.length > 1 ? padding : 0)) * 3) >>> 2;
        }
        return (known || encodings.utf8)[0](value).length;
      }
      if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return value.byteLength;
      throw wrongType('string', 'a string, a Buffer or an ArrayBuffer', value);
    },
    compare: (a, b) => compared(bytesNamed('buf1', a), bytesNamed('buf2', b)),
    poolSize: 8192,
  });

  // ---- numbers

  function checkOffset(buffer, offset, bytes) {
    if (typeof offset !== 'number') throw wrongType('offset', 'a number', offset);
    if (offset !== Math.floor(offset)) throw outOfRange('offset', 'an integer', offset);
    if (offset >= 0 && offset + bytes <= buffer.length) return;
    if (buffer.length < bytes)
      throw failure(RangeError, 'ERR_BUFFER_OUT_OF_BOUNDS', 'Reading or writing ' + bytes + ' bytes in a Buffer of ' + buffer.length);
    throw outOfRange('offset', '0 to ' + (buffer.length - bytes), offset);
  }
  function checkByteLength(bytes) {
    if (typeof bytes !== 'number') throw wrongType('byteLength', 'a number', bytes);
    if (bytes !== Math.floor(bytes)) throw outOfRange('byteLength', 'an integer', bytes);
    if (bytes < 1 || bytes > 6) throw outOfRange('byteLength', '1 to 6', bytes);
  }

  function readUnsigned(buffer, offset, bytes, little) {
    checkOffset(buffer, offset, bytes);
    let value = 0;
    for (let i = 0; i < bytes; i++) value = value * 256 + buffer[little ? offset + bytes - 1 - i : offset + i];
    return value;
  }
  function readSigned(buffer, offset, bytes, little) {
    const value = readUnsigned(buffer, offset, bytes, little);
    const half = 2 ** (8 * bytes - 1);
    return value < half ? value : value - 2 * half;
  }
  function writeInteger(buffer, input, offset, { bytes, little, lowest, highest }) {
    const value = +input;
    if (value > highest || value < lowest) throw outOfRange('value', lowest + ' to ' + highest, value);
    checkOffset(buffer, offset, bytes);
    // Fractions are cut as a typed array cuts them; what is no number is 0.
    let rest = Math.trunc(value) || 0;
    for (let i = 0; i < bytes; i++) {
      const next = Math.floor(rest / 256);
      buffer[little ? offset + i : offset + bytes - 1 - i] = rest - next * 256;
      rest = next;
    }
    return offset + bytes;
  }
  const rangeOf = (bytes, signed) =>
    signed
      ? { lowest: -(2 ** (8 * bytes - 1)), highest: 2 ** (8 * bytes - 1) - 1 }
      : { lowest: 0, highest: 2 ** (8 * bytes) - 1 };

  const endings = [['LE', true], ['BE', false]];

  function defineNumber(names, read, write) {
    for (const name of names) define(prototype, { ['read' + name]: read, ['write' + name]: write });
  }

  for (const signed of [true, false]) {
    const read = signed ? readSigned : readUnsigned;
    const names = signed ? ['Int'] : ['UInt', 'Uint'];
    defineNumber(
      names.map((name) => name + '8'),
      function (offset = 0) {
        return read(this, offset, 1, true);
      },
      function (value, offset = 0) {
        return writeInteger(this, value, offset, { bytes: 1, little: true, ...rangeOf(1, signed) });
      },
    );
    for (const [ending, little] of endings) {
      for (const bytes of [2, 4]) {
        const how = { bytes, little, ...rangeOf(bytes, signed) };
        defineNumber(
          names.map((name) => name + 8 * bytes + ending),
          function (offset = 0) {
            return read(this, offset, bytes, little);
          },
          function (value, offset = 0) {
            return writeInteger(this, value, offset, how);
          },
        );
      }
      defineNumber(
        names.map((name) => name + ending),
        function (offset, bytes) {
          if (offset === undefined) throw wrongType('offset', 'a number', offset);
          checkByteLength(bytes);
          return read(this, offset, bytes, little);
        },
        function (value, offset, bytes) {
          checkByteLength(bytes);
          if (typeof offset !== 'number') throw wrongType('offset', 'a number', offset);
          return writeInteger(this, value, offset, { bytes, little, ...rangeOf(bytes, signed) });
        },
      );
    }
  }

  const viewOf = (buffer) => new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength);
  function defineViewed(names, bytes, type, checked) {
    for (const [ending, little] of endings)
      defineNumber(
        names.map((name) => name + ending),
        function (offset = 0) {
          checkOffset(this, offset, bytes);
          return viewOf(this)['get' + type](offset, little);
        },
        function (input, offset = 0) {
          const value = checked(input);
          checkOffset(this, offset, bytes);
          viewOf(this)['set' + type](offset, value, little);
          return offset + bytes;
        },
      );
  }
  const bigChecked = (lowest, highest) => (value) => {
    if (typeof value !== 'bigint') throw new TypeError('The value must be a BigInt; it is ' + String(value));
    if (value < lowest || value > highest) throw outOfRange('value', lowest + ' to ' + highest, value);
    return value;
  };
  defineViewed(['Float'], 4, 'Float32', Number);
  defineViewed(['Double'], 8, 'Float64', Number);
  defineViewed(['BigInt64'], 8, 'BigInt64', bigChecked(-(2n ** 63n), 2n ** 63n - 1n));
  defineViewed(['BigUInt64', 'BigUint64'], 8, 'BigUint64', bigChecked(0n, 2n ** 64n - 1n));

  // ---- the rest

  /** An end of a range as Node reads it: not a number is 0, negative is 0, beyond the length is the length. */
  function within(value, length, instead) {
    if (value === undefined) return instead;
    const number = Math.trunc(+value) || 0;
    return number < 0 ? 0 : number > length ? length : number;
  }

  function part(start, end) {
    const { length } = this;
    const at = (value, instead) => {
      if (value === undefined) return instead;
      const number = Math.trunc(+value) || 0;
      return number < 0 ? Math.max(0, number + length) : Math.min(number, length);
    };
    const first = at(start, 0);
    return created(this.buffer, this.byteOffset + first, Math.max(0, at(end, length) - first));
  }

  function textOf(encoding, start, end) {
    const first = within(start, this.length, 0);
    const last = within(end, this.length, this.length);
    return last <= first ? '' : encodingOf(encoding)[1](this, first, last);
  }

  function searched(value, encoding) {
    if (typeof value === 'string') return encodingOf(encoding)[0](value);
    if (typeof value === 'number') return [value & 255];
    return bytesNamed('value', value);
  }
  function isAt(buffer, wanted, at) {
    for (let i = 0; i < wanted.length; i++) if (buffer[at + i] !== wanted[i]) return false;
    return true;
  }
  function indexOf(buffer, value, from, encoding, forward) {
    const named = typeof from === 'string';
    const wanted = searched(value, named ? from : encoding);
    const { length } = buffer;
    let at = named || from === undefined ? NaN : +from;
    if (at !== at) at = forward ? 0 : length;
    at = Math.trunc(at);
    if (at < 0) at += length;
    if (at < 0) {
      if (!forward) return -1;
      at = 0;
    }
    if (wanted.length === 0) return forward || at < length ? Math.min(at, length) : length;
    const last = length - wanted.length;
    if (forward) {
      for (; at <= last; at++) if (isAt(buffer, wanted, at)) return at;
      return -1;
    }
    for (at = Math.min(at, last); at >= 0; at--) if (isAt(buffer, wanted, at)) return at;
    return -1;
  }

  define(prototype, {
    toString: textOf,
    toLocaleString: textOf,
    slice: part,
    subarray: part,
    equals(other) {
      return compared(this, bytesNamed('otherBuffer', other)) === 0;
    },
    compare(other, start, end, thisStart, thisEnd) {
      const others = bytesNamed('target', other);
      const range = (bytes, from, to) => part.call(bytes, from === undefined ? 0 : from, to === undefined ? bytes.length : to);
      return compared(range(this, thisStart, thisEnd), range(others, start, end));
    },
    copy(target, targetStart, sourceStart, sourceEnd) {
      bytesNamed('target', target);
      const integer = (name, value, instead) => {
        if (value === undefined) return instead;
        const number = Math.trunc(+value) || 0;
        if (number < 0) throw outOfRange(name, 'at least 0', number);
        return number;
      };
      const to = integer('targetStart', targetStart, 0);
      const first = integer('sourceStart', sourceStart, 0);
      if (first > this.length) throw outOfRange('sourceStart', '0 to ' + this.length, first);
      const last = Math.min(integer('sourceEnd', sourceEnd, this.length), this.length);
      if (to >= target.length || first >= last) return 0;
      const count = Math.min(last - first, target.length - to);
      target.set(created(this.buffer, this.byteOffset + first, count), to);
      return count;
    },
    indexOf(value, from, encoding) {
      return indexOf(this, value, from, encoding, true);
    },
    lastIndexOf(value, from, encoding) {
      return indexOf(this, value, from, encoding, false);
    },
    includes(value, from, encoding) {
      return indexOf(this, value, from, encoding, true) !== -1;
    },
    write(text, offset, length, encoding) {
      if (typeof text !== 'string') throw wrongType('argument', 'a string', text);
      if (typeof offset === 'string') return this.write(text, 0, this.length, offset);
      if (typeof length === 'string') return this.write(text, offset, undefined, length);
      const at = offset === undefined ? 0 : offset;
      if (typeof at !== 'number') throw wrongType('offset', 'a number', at);
      if (at !== Math.floor(at) || at < 0 || at > this.length) throw outOfRange('offset', '0 to ' + this.length, at);
      const room = length === undefined ? this.length - at : Math.min(length, this.length - at);
      const known = encodingOf(encoding);
      const bytes = known[0](text);
      let count = Math.min(bytes.length, room);
      // No character is written in part.
      if (known === encodings.utf8) while (count > 0 && count < bytes.length && (bytes[count] & 0xc0) === 0x80) count -= 1;
      if (known === encodings.utf16le) count -= count % 2;
      for (let i = 0; i < count; i++) this[at + i] = bytes[i];
      return count;
    },
    fill(value, start, end, encoding) {
      if (typeof start === 'string') return this.fill(value, 0, this.length, start);
      if (typeof end === 'string') return this.fill(value, start, this.length, end);
      const first = start === undefined ? 0 : start;
      const last = end === undefined ? this.length : end;
      if (first < 0 || first > this.length) throw outOfRange('offset', '0 to ' + this.length, first);
      if (last < 0 || last > this.length) throw outOfRange('end', '0 to ' + this.length, last);
      let bytes = [Number(value) & 255];
      if (typeof value === 'string') bytes = value === '' ? [0] : encodingOf(encoding)[0](value);
      else if (value instanceof Uint8Array) bytes = value;
      if (bytes.length === 0) throw failure(TypeError, 'ERR_INVALID_ARG_VALUE', 'The value to fill with has no bytes');
      for (let i = first; i < last; i++) this[i] = bytes[(i - first) % bytes.length];
      return this;
    },
    toJSON() {
      return { type: 'Buffer', data: Array.prototype.slice.call(this) };
    },
  });

  function define(object, members) {
    for (const name of Object.keys(members))
      Object.defineProperty(object, name, { value: members[name], writable: true, configurable: true, enumerable: false });
  }
  define(globalThis, { Buffer });
});
