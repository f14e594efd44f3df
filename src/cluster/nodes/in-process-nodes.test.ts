// Nodes of one process: the conformance suite, with messages that are lost and doubled.
import { describeNodes, type Fault } from './conformance/nodes.conformance.ts';
import { type Carry, createNodeSwitch } from './in-process-nodes.ts';

describeNodes(async (offered) => {
  const faults: Fault[] = [];
  const carry: Carry = async (deliver) => {
    const fault = faults.shift();
    if (fault === 'requestLost') throw new Error('lost');
    const answer = await deliver();
    if (fault === 'answerLost') throw new Error('lost');
    return fault === 'doubled' ? deliver() : answer;
  };
  const nodeSwitch = createNodeSwitch(carry);
  const disconnect = nodeSwitch.connect('b', offered);
  return {
    nodes: nodeSwitch.nodesOf('a'),
    to: { id: 'b', url: 'http://b' },
    fail: (...next) => void faults.push(...next),
    disconnect: async () => disconnect(),
  };
});
