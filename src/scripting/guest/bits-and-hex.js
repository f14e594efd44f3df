// The globals Bits and Hex that decoders use without import (contract 15).
// oxlint-disable no-unused-expressions -- The file is one function, which the host calls.
(function () {
  'use strict';
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

  function withoutPrefix(hex) {
    return hex.length > 1 && hex[0] === '0' && (hex[1] === 'x' || hex[1] === 'X') ? hex.slice(2) : hex;
  }

  // Bits are a number's digits, so a text that ends no group is filled on the left.
  function filled(bits, group) {
    const over = bits.length % group;
    return over === 0 ? bits : '0'.repeat(group - over) + bits;
  }

  function checked(bits) {
    if (typeof bits !== 'string') throw new TypeError('bits must be a string');
    for (let i = 0; i < bits.length; i++) {
      if (bits[i] !== '0' && bits[i] !== '1') throw new Error('invalid bit ' + bits[i]);
    }
    return bits;
  }

  const Bits = {
    hexToBits(hex) {
      if (typeof hex !== 'string') throw new TypeError('hex must be a string');
      const digits = withoutPrefix(hex);
      let bits = '';
      for (let i = 0; i < digits.length; i++) {
        const digit = parseInt(digits[i], 16);
        if (digit !== digit) throw new Error('invalid hex digit ' + digits[i]);
        bits += (16 + digit).toString(2).slice(1);
      }
      return bits;
    },
    bitsToHex(bits) {
      const digits = filled(checked(bits), 4);
      let hex = '';
      for (let i = 0; i < digits.length; i += 4) hex += parseInt(digits.slice(i, i + 4), 2).toString(16);
      return hex.toUpperCase();
    },
    base64ToBytes(base64) {
      if (typeof base64 !== 'string') throw new TypeError('base64 must be a string');
      const bytes = [];
      let buffer = 0;
      let held = 0;
      for (let i = 0; i < base64.length; i++) {
        const letter = base64[i] === '-' ? '+' : base64[i] === '_' ? '/' : base64[i];
        if (letter === '=' || letter === '\n' || letter === '\r' || letter === ' ') continue;
        const value = alphabet.indexOf(letter);
        if (value < 0) throw new Error('invalid base64 character ' + letter);
        buffer = ((buffer << 6) | value) & 0xffff;
        held += 6;
        if (held >= 8) {
          held -= 8;
          bytes.push((buffer >> held) & 255);
        }
      }
      return bytes;
    },
    base64ToBits(base64) {
      let bits = '';
      for (const byte of Bits.base64ToBytes(base64)) bits += (256 + byte).toString(2).slice(1);
      return bits;
    },
    bitsToBase64(bits) {
      const digits = filled(checked(bits), 8);
      let base64 = '';
      for (let i = 0; i < digits.length; i += 6) {
        const group = digits.slice(i, i + 6);
        base64 += alphabet[parseInt(group + '0'.repeat(6 - group.length), 2)];
      }
      return base64 + '='.repeat((4 - (base64.length % 4)) % 4);
    },
    bitsToUnsigned(bits) {
      return parseInt(bits, 2);
    },
    // Two's complement of the text's own length. Negative numbers are read from their complement, which stays exact
    // for small ones of any length: 64 ones are -1.
    bitsToSigned(bits) {
      if (typeof bits !== 'string') throw new TypeError('bits must be a string');
      if (bits === '') throw new Error('bits must not be empty');
      if (bits[0] !== '1') return parseInt(bits, 2);
      let complement = '';
      for (let i = 0; i < bits.length; i++) complement += bits[i] === '1' ? '0' : bits[i] === '0' ? '1' : bits[i];
      return -(parseInt(complement, 2) + 1);
    },
    bytesToHex(bytes) {
      return Hex.bytesToHex(bytes);
    },
  };

  const Hex = {
    hexToBytes(hex) {
      const digits = withoutPrefix(hex);
      const bytes = [];
      for (let i = 0; i < digits.length; i += 2) bytes.push(parseInt(digits.slice(i, i + 2), 16));
      return bytes;
    },
    bytesToHex(bytes) {
      let hex = '';
      for (let i = 0; i < bytes.length; i++) {
        const byte = bytes[i] < 0 ? bytes[i] + 256 : bytes[i];
        hex += (byte >>> 4).toString(16) + (byte & 15).toString(16);
      }
      return hex;
    },
    hexLittleEndianToBigEndian(hex, signed = true) {
      const digits = withoutPrefix(hex);
      let reversed = '';
      for (let i = 0; i < digits.length; i += 2) reversed = digits.slice(i, i + 2) + reversed;
      const bits = Bits.hexToBits(reversed);
      return signed ? Bits.bitsToSigned(bits) : Bits.bitsToUnsigned(bits);
    },
  };

  globalThis.Bits = Bits;
  globalThis.Hex = Hex;
});
