// Send step: the three answers, and the command that sends the first reading, with real ids.
import { useState } from 'react';
import { Link } from '@tanstack/react-router';
import { Segments } from '../../parts/choice.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { CodeBlock } from '../../parts/states.tsx';
import { useWords } from '../../words/language.tsx';
import { useAbout } from './protocol-form.tsx';
import { sendCode, type Sender, type SendTool, sendTools } from './send-code.ts';
import { Step } from './step.tsx';
import type { FirstDevice } from './use-first-device.ts';
import styles from './welcome.module.css';
import { welcomeWords } from './welcome-words.ts';

interface SendStepProps {
  readonly device: FirstDevice;
  readonly payload: object;
  readonly hasArrived: boolean;
}

export function SendStep({ device, payload, hasArrived }: SendStepProps) {
  const words = useWords(welcomeWords);
  const { name, connectivity, typeName, isPassThrough, sender } = device;
  const stored = typeName === undefined ? words.asItIs : words.declared;
  const decoder = isPassThrough ? stored : words.decodedBy(typeName ?? '');
  return (
    <>
      <ol className={styles['steps']} aria-label={words.steps}>
        <Step number={1} title={words.nameStep} state="done" answer={name} />
        <Step
          number={2}
          title={words.talkStep}
          state="done"
          answer={words.protocolNames[connectivity]}
        />
        <Step number={3} title={words.sendStep} state="done" answer={decoder} />
        <Step number={4} title={words.sendIt} state="open">
          {sender === undefined ? (
            <p className="mute">{words.noSecret}</p>
          ) : (
            <Commands sender={{ ...sender, payload }} />
          )}
        </Step>
      </ol>
      {hasArrived && (
        <Link className={styles['again']} to="/welcome" search={{}}>
          {words.another}
        </Link>
      )}
    </>
  );
}

function Commands({ sender }: { readonly sender: Sender }) {
  const words = useWords(welcomeWords);
  const about = useAbout();
  const tools = sendTools(sender);
  const [tool, setTool] = useState<SendTool>(tools[0] ?? 'curl');
  const { origin, hostname } = location;
  const { mqtt = null, coap = null } = about?.ports ?? {};
  const code = sendCode(tool, sender, { origin, hostname, mqttPort: mqtt, coapPort: coap });
  const isTerminal = tool !== 'Python' && tool !== 'Arduino';
  return (
    <div className={styles['send']}>
      <p className="mute">{isTerminal ? words.sendNote.curl : words.sendNote.device}</p>
      <div className={styles['code']}>
        <CodeBlock code={code} />
      </div>
      <div className={styles['bar']}>
        <Segments
          label={words.tools}
          value={tool}
          choose={setTool}
          options={tools.map((value) => ({ value, label: value }))}
        />
        <CopyButton content={code} />
      </div>
    </div>
  );
}
