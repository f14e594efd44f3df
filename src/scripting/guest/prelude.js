// The guest's side of a run: emit, the run itself and its errors. Evaluated once into the base image, inside the engine.
// Scripts may change every built-in of their own run, so whatever is used here after the start is captured before.
// oxlint-disable no-unused-expressions -- The file is one function, which the host calls.
(function (record, fail, entropy, limits) {
  'use strict';
  const uncurry = Function.prototype.bind.bind(Function.prototype.call);
  const { parse, stringify } = JSON;
  const { defineProperty, hasOwn } = Object;
  const globals = globalThis;
  const isObject = (value) => typeof value === 'object' && value !== null;
  const textOfAny = String;
  const slice = uncurry(String.prototype.slice);
  const indexOf = uncurry(String.prototype.indexOf);
  const mapGet = uncurry(Map.prototype.get);
  const mapSet = uncurry(Map.prototype.set);
  const then = uncurry(Promise.prototype.then);
  const PromiseOf = Promise;
  const MapOf = Map;
  const ErrorOf = Error;

  let wrapper;
  let event;
  let bindings;
  const modules = { __proto__: null };
  let dialect;
  let entry;
  let marked = false;
  let emits = 0;
  let pending = false;

  // The host answers 1 when the run is over. Nothing that a script can catch ends it, but the engine asks the host every
  // some thousand steps whether to go on, and then it ends here.
  function obey(answer) {
    // oxlint-disable-next-line no-unmodified-loop-condition
    while (answer === 1);
  }

  /** Tells the host an error; nothing that the script does to the error can make this throw or run long. */
  function report(error) {
    let message = 'unknown error';
    let stack = '';
    try {
      // The engine throws null when it has no memory left even for an error.
      if (error === null) message = 'the script threw null or ran out of memory';
      else if (typeof error === 'string') message = error;
      else if (typeof error !== 'object') message = textOfAny(error);
      else if (typeof error.message === 'string') {
        const name = error.name;
        const text = error.message;
        message = typeof name === 'string' && name !== 'Error' && name !== '' ? name + ': ' + text : text;
        if (typeof error.stack === 'string') stack = error.stack;
      } else message = stringify(error);
      if (typeof message !== 'string' || message === '') message = 'unknown error';
    } catch {
      message = 'unknown error';
    }
    obey(fail(slice(message, 0, limits.errorMessageCharsMax), slice(stack, 0, limits.errorStackCharsMax), 0));
  }

  function refuse(message, ends) {
    let stack = '';
    try {
      const trace = new ErrorOf('').stack;
      if (typeof trace === 'string') stack = trace;
    } catch {
      stack = '';
    }
    obey(fail(slice(message, 0, limits.errorMessageCharsMax), slice(stack, 0, limits.errorStackCharsMax), ends ? 1 : 0));
  }

  // A number that is not finite becomes null in JSON. Only a text that has a null in it is looked through for one.
  function finiteText(value) {
    return stringify(value, function (key, member) {
      if (typeof member === 'bigint') return isExact(member) ? parse(textOfAny(member)) : textOfAny(member);
      if (typeof member !== 'number' || member - member === 0) return member;
      return textOfAny(member);
    });
  }

  // Whether a number holds the BigInt, which JSON does not have.
  function isExact(big) {
    return big >= -9007199254740991n && big <= 9007199254740991n;
  }

  function markedText(value, paths) {
    const pathOf = new MapOf();
    return stringify(value, function (key, member) {
      const parent = mapGet(pathOf, this);
      const path = parent === undefined ? '' : parent === '' ? key : parent + '.' + key;
      if (typeof member === 'object' && member !== null) mapSet(pathOf, member, path);
      else if (typeof member === 'number' && member - member !== 0) {
        paths.text += (paths.text === '' ? '' : ',') + stringify(path);
        return null;
      } else if (typeof member === 'bigint') {
        if (isExact(member)) return parse(textOfAny(member));
        paths.exact += (paths.exact === '' ? '' : ',') + stringify(path);
        return textOfAny(member);
      }
      return member;
    });
  }

  function emitNamed(name, value) {
    let text;
    let extra = '';
    try {
      let isSimple = true;
      try {
        text = stringify(value);
      } catch {
        // A BigInt, or a value that fails below as well.
        isSimple = false;
      }
      if (isSimple && text === undefined) text = 'null';
      else if (!isSimple || indexOf(text, 'null') !== -1) {
        if (marked) {
          const paths = { text: '', exact: '' };
          text = markedText(value, paths);
          if (paths.text !== '') extra = ',"nonFinite":[' + paths.text + ']';
          if (paths.exact !== '') extra += ',"exact":[' + paths.exact + ']';
        } else text = finiteText(value);
        if (text === undefined) text = 'null';
      }
    } catch (error) {
      report(error);
      return;
    }
    obey(record('{"type":"' + name + '","event":' + text + extra + '}'));
  }

  function emit(type, value) {
    emits += 1;
    if (emits > limits.emitsMax) refuse('emit was called more than ' + limits.emitsMax + ' times', true);
    switch (type) {
      case 'sample':
        return emitNamed('SAMPLE', value);
      case 'log':
        return emitNamed('LOG', value);
      case 'state':
        return emitNamed('STATE', value);
      case 'downlink':
        return emitNamed('DOWNLINK', value);
      case 'action':
        return emitNamed('ACTION', value);
      case 'timer':
        return emitNamed('TIMER', value);
    }
    let name = 'unknown';
    try {
      name = textOfAny(type);
    } catch {
      name = typeof type;
    }
    refuse('invalid emit type ' + name, false);
  }

  function warn(message) {
    obey(record('{"type":"LOG","event":{"message":' + stringify(message) + '},"warning":true}'));
  }

  // A promise is awaited: the host runs the pending jobs under the same limits and then asks `unsettled`.
  function awaited(result) {
    if (typeof result !== 'object' || result === null || typeof result.then !== 'function') return;
    pending = true;
    then(
      new PromiseOf(function (resolve) {
        resolve(result);
      }),
      function () {
        pending = false;
      },
      function (error) {
        pending = false;
        report(error);
      },
    );
  }

  const apply = Reflect.apply;

  const entries = ['decodeUplink', 'encodeDownlink', 'decodeDownlink'];

  /** Takes the event of the run that follows. */
  /** `dataSourceNames` gives data sources a second name, which is read and not listed: whoever walks them meets each once (contract 36). */
  function take(eventText) {
    event = parse(eventText);
    // Most events have none, and every step here is one of every run.
    if (event === null || event.dataSourceNames === undefined) return;
    const names = event.dataSourceNames;
    if (!isObject(event) || !isObject(names) || !isObject(event.dataSources)) return;
    const sources = event.dataSources;
    for (const name in names) {
      if (hasOwn(sources, name)) continue;
      defineProperty(sources, name, { value: sources[names[name]], writable: true, configurable: true });
    }
    delete event.dataSourceNames;
  }

  /** One run; `mode` is twice the entry's index, plus 1 when numbers that are not finite are marked. */
  function run(mode) {
    marked = (mode & 1) === 1;
    entry = entries[mode >> 1];
    // A codec waits in a pending job, which the host runs next.
    if (dialect === 'codec') return;
    try {
      const consume = apply(wrapper, undefined, bindings);
      if (typeof consume !== 'function') {
        fail('consume is not defined: a script must define the function consume(event)', '', 0);
        return;
      }
      awaited(consume(event));
    } catch (error) {
      report(error);
    }
  }

  function unsettled() {
    if (pending) fail('The promise of ' + (dialect === 'codec' ? entry : 'consume') + ' was never settled', '', 0);
  }

  function defineGlobal(name, value) {
    defineProperty(globals, name, { value, writable: true, configurable: true, enumerable: false });
  }

  /**
   * Before the script is compiled. `imports` has the names of its imports, and for each the module, or the module and the
   * name of its export.
   */
  function prepare(itsDialect, importsText) {
    const { locals, bindings: list } = parse(importsText);
    dialect = itsDialect;
    bindings = { length: list.length };
    for (let i = 0; i < list.length; i++) {
      const exported = modules[list[i][0]];
      bindings[i] = list[i].length === 1 ? exported : exported[list[i][1]];
    }
    if (dialect !== 'codec') return;
    for (let i = 0; i < locals.length; i++) defineGlobal(locals[i], bindings[i]);
    api.openCodec(defineGlobal);
  }

  /** Takes the compiled script: a function, or the promise of a codec that waits at its first statement. */
  function install(compiled) {
    if (dialect !== 'codec') {
      wrapper = compiled;
      return;
    }
    pending = true;
    then(
      compiled,
      function ({ value }) {
        pending = false;
        try {
          awaited(api.runCodec(value, entry, event));
        } catch (error) {
          report(error);
        }
      },
      function (error) {
        pending = false;
        report(error);
      },
    );
  }

  function addModule(name, exported) {
    modules[name] = exported;
  }

  globalThis.emit = emit;
  Math.random = function random() {
    return entropy();
  };
  // No part of ECMAScript, and of no use to a decoder.
  for (const name of ['performance', 'queueMicrotask', 'DOMException', 'SharedArrayBuffer']) delete globalThis[name];

  const api = { take, run, unsettled, prepare, install, addModule, emit, emitNamed, warn, fail, openCodec: undefined, runCodec: undefined };
  return api;
});
