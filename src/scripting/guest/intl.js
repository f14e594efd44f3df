// Intl for the guest: the engine has none, so the classes below ask the host, which answers with its own Intl.
// oxlint-disable no-unused-expressions -- The file is one function, which the host calls.
(function (ask) {
  'use strict';
  const { parse, stringify } = JSON;
  const errors = { RangeError, TypeError };
  const uncurry = Function.prototype.bind.bind(Function.prototype.call);
  const getTime = uncurry(Date.prototype.getTime);
  const DateOf = Date;
  const now = Date.now;

  // Answers that depend on nothing but the formatter. Those that the provided modules need are here from the start.
  const fixed = new Map();
  const getFixed = uncurry(Map.prototype.get);
  const setFixed = uncurry(Map.prototype.set);

  function answerText(kind, key, method, args) {
    const isFixed = args.length === 0;
    const name = isFixed ? kind + method + key : '';
    let text = isFixed ? getFixed(fixed, name) : undefined;
    if (text !== undefined) return text;
    text = ask(kind, key, method, stringify(args));
    // No answer means that the run is over; the engine ends it here when it next asks the host.
    // oxlint-disable-next-line no-unmodified-loop-condition
    while (text === undefined);
    if (isFixed) setFixed(fixed, name, text);
    return text;
  }

  // Locales and options are plain data; they are read once, when the formatter is made.
  function call(kind, key, method, args) {
    const answer = parse(answerText(kind, key, method, args));
    if (answer.error !== undefined) throw new (errors[answer.error] || RangeError)(answer.message);
    return answer.value;
  }

  function keyOf(locales, options) {
    return stringify([locales === undefined ? null : locales, options === undefined ? null : options]);
  }

  function timeOf(date) {
    const time = date === undefined ? now() : date instanceof DateOf ? getTime(date) : Number(date);
    if (time - time !== 0) throw new RangeError('Invalid time value');
    return time;
  }

  function numberOf(value) {
    return typeof value === 'bigint' ? { bigint: value + '' } : value - value === 0 ? value : { number: value + '' };
  }

  // Each class by its methods, and each method by how its arguments become JSON.
  const classes = {
    DateTimeFormat: {
      format: (date) => [timeOf(date)],
      formatToParts: (date) => [timeOf(date)],
      formatRange: (from, to) => [timeOf(from), timeOf(to)],
      formatRangeToParts: (from, to) => [timeOf(from), timeOf(to)],
    },
    NumberFormat: {
      format: (value) => [numberOf(typeof value === 'bigint' ? value : Number(value))],
      formatToParts: (value) => [numberOf(typeof value === 'bigint' ? value : Number(value))],
    },
    RelativeTimeFormat: {
      format: (value, unit) => [Number(value), unit + ''],
      formatToParts: (value, unit) => [Number(value), unit + ''],
    },
    ListFormat: {
      format: (list) => [[...list]],
      formatToParts: (list) => [[...list]],
    },
    PluralRules: { select: (value) => [Number(value)] },
    Collator: { compare: (a, b) => [a + '', b + ''] },
  };
  // These are getters of a bound function in the standard, so that they can be handed to sort and map.
  const bound = { DateTimeFormat: 'format', NumberFormat: 'format', Collator: 'compare' };

  function classOf(kind) {
    const methods = classes[kind];
    const keys = new WeakMap();
    function Formatter(locales, options) {
      const self = this instanceof Formatter ? this : Object.create(Formatter.prototype);
      const key = keyOf(locales, options);
      call(kind, key, 'check', []);
      keys.set(self, key);
      return self;
    }
    function keyIn(self) {
      const key = keys.get(self);
      if (key === undefined) throw new TypeError('not an Intl.' + kind);
      return key;
    }
    for (const method of Object.keys(methods)) {
      const toJson = methods[method];
      const invoke = (self, args) => call(kind, keyIn(self), method, toJson(...args));
      const property =
        bound[kind] === method
          ? {
              get() {
                return (...args) => invoke(this, args);
              },
            }
          : {
              writable: true,
              value(...args) {
                return invoke(this, args);
              },
            };
      Object.defineProperty(Formatter.prototype, method, { configurable: true, ...property });
    }
    Object.defineProperty(Formatter.prototype, 'resolvedOptions', {
      configurable: true,
      writable: true,
      value() {
        return call(kind, keyIn(this), 'resolvedOptions', []);
      },
    });
    Object.defineProperty(Formatter.prototype, Symbol.toStringTag, { configurable: true, value: 'Intl.' + kind });
    Formatter.supportedLocalesOf = (locales) => call(kind, keyOf(locales, undefined), 'supportedLocalesOf', []);
    Object.defineProperty(Formatter, 'name', { configurable: true, value: kind });
    return Formatter;
  }

  const Intl = { getCanonicalLocales: (locales) => call('Intl', keyOf(locales, undefined), 'getCanonicalLocales', []) };
  for (const kind of Object.keys(classes)) {
    Object.defineProperty(Intl, kind, { configurable: true, writable: true, value: classOf(kind) });
  }
  Object.defineProperty(globalThis, 'Intl', { configurable: true, writable: true, value: Intl });

  function define(prototype, name, value) {
    Object.defineProperty(prototype, name, { configurable: true, writable: true, value });
  }
  const methodOf = (method) =>
    function (locales, options) {
      const time = getTime(this);
      return time === time ? call('Date', keyOf(locales, options), method, [time]) : 'Invalid Date';
    };
  for (const method of ['toLocaleString', 'toLocaleDateString', 'toLocaleTimeString']) {
    define(DateOf.prototype, method, methodOf(method));
  }
  const valueOfNumber = uncurry(Number.prototype.valueOf);
  define(Number.prototype, 'toLocaleString', function toLocaleString(locales, options) {
    return call('NumberFormat', keyOf(locales, options), 'format', [numberOf(valueOfNumber(this))]);
  });
  define(String.prototype, 'localeCompare', function localeCompare(other, locales, options) {
    return call('Collator', keyOf(locales, options), 'compare', [this + '', other + '']);
  });
});
