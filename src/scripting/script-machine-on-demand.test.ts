// Script machine on demand: started once, by the first run or before it.
import { expect, test } from 'vitest';
import { ScriptMachineOnDemand, ScriptMachine } from './script-machine.ts';

test('nothing runs before the first script, and one machine runs them all', async () => {
  let starts = 0;
  const machine = new ScriptMachineOnDemand(() => {
    starts += 1;
    return new ScriptMachine({ workers: 1 });
  });
  expect([starts, machine.started()]).toEqual([0, undefined]);
  const source = 'function consume(event) { emit("sample", { data: { doubled: event * 2 } }); }';
  for (const event of [1, 2]) {
    const { emits } = await machine.run({ tenant: 't', source, event });
    expect(emits).toMatchObject([{ event: { data: { doubled: event * 2 } } }]);
  }
  machine.warmUp();
  expect([starts, machine.started()?.threads]).toEqual([1, 1]);
  await machine.close();
});

test('a machine that was never started has nothing to close', async () => {
  const machine = new ScriptMachineOnDemand(() => {
    throw new Error('started');
  });
  await machine.close();
  expect(() => machine.warmUp()).toThrow('started');
});
