// Protocol form: HTTP, MQTT or CoAP, as far as they are on in this installation.
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { aboutQuery } from '../../api/about.ts';
import { Button } from '../../ui/button.tsx';
import { useWords } from '../../words/language.tsx';
import { connectivities, type Connectivity } from '../devices/register-requests.ts';
import { OptionList } from './option-list.tsx';
import styles from './welcome.module.css';
import { welcomeWords } from './welcome-words.ts';

interface ProtocolFormProps {
  readonly chosen: Connectivity;
  readonly next: (chosen: Connectivity) => void;
}

export function ProtocolForm({ chosen, next }: ProtocolFormProps) {
  const words = useWords(welcomeWords);
  const [connectivity, setConnectivity] = useState(chosen);
  const about = useAbout();
  const isOn = { HTTP: true, MQTT: about?.features.mqtt, COAP: about?.features.coap };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    next(connectivity);
  };
  return (
    <form className={styles['form']} onSubmit={submit}>
      <OptionList
        label={words.talkStep}
        name="protocol"
        value={connectivity}
        choose={setConnectivity}
        options={connectivities.map((one) => ({
          value: one,
          title: words.protocolNames[one],
          note: isOn[one] === false ? words.isOff : words.protocols[one],
          isDisabled: isOn[one] !== true,
        }))}
      />
      <div>
        <Button type="submit" look="primary">
          {words.next}
        </Button>
      </div>
    </form>
  );
}

/** What the installation has; undefined until it answered. */
export function useAbout() {
  return useQuery(aboutQuery).data;
}
