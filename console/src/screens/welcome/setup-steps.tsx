// Setup steps: name, protocol and payload, each with an answer filled in; the last makes the device.
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { ActionFailure } from '../../parts/action-failure.tsx';
import { Button } from '../../parts/button.tsx';
import { TextField } from '../../parts/field.tsx';
import { rememberFirstDevice } from '../../session/first-run.ts';
import { useAccount } from '../../session/session.ts';
import { useWords } from '../../words/language.tsx';
import type { Connectivity } from '../devices/register-requests.ts';
import { keepSetup } from './kept-setup.ts';
import { PayloadForm, type Sending } from './payload-form.tsx';
import { ProtocolForm } from './protocol-form.tsx';
import { type Made, makeFirst } from './setup-requests.ts';
import { Step } from './step.tsx';
import styles from './welcome.module.css';
import { welcomeWords } from './welcome-words.ts';
import { useAction } from '../../parts/use-action.ts';

interface SetupStepsProps {
  readonly workspaceId: string;
  readonly onMade: (deviceId: string) => void;
}

interface Answers {
  readonly name: string;
  readonly connectivity: Connectivity;
}

export function SetupSteps({ workspaceId, onMade }: SetupStepsProps) {
  const words = useWords(welcomeWords);
  const [open, setOpen] = useState(1);
  const [answered, setAnswered] = useState<Answers>({
    name: words.firstName,
    connectivity: 'HTTP',
  });
  const making = useMaking(workspaceId, answered, onMade);
  const stateOf = (number: number) => {
    if (number === open) return 'open';
    return number < open ? 'done' : 'later';
  };
  // After the first record exists, another answer would not be that of the record.
  const change = (number: number) => (making.hasBegun ? {} : { change: () => setOpen(number) });
  return (
    <ol className={styles['steps']} aria-label={words.steps}>
      <Step
        number={1}
        title={words.nameStep}
        state={stateOf(1)}
        answer={answered.name}
        {...change(1)}
      >
        <NameForm
          name={answered.name}
          next={(name) => {
            setAnswered({ ...answered, name });
            setOpen(2);
          }}
        />
      </Step>
      <Step
        number={2}
        title={words.talkStep}
        state={stateOf(2)}
        answer={words.protocolNames[answered.connectivity]}
        {...change(2)}
      >
        <ProtocolForm
          chosen={answered.connectivity}
          next={(connectivity) => {
            setAnswered({ ...answered, connectivity });
            setOpen(3);
          }}
        />
      </Step>
      <Step number={3} title={words.sendStep} state={stateOf(3)}>
        <PayloadForm isBusy={making.isPending} make={making.mutate} />
        <ActionFailure error={making.error} />
      </Step>
      <Step number={4} title={words.sendIt} state="later" />
    </ol>
  );
}

interface NameFormProps {
  readonly name: string;
  readonly next: (name: string) => void;
}

function NameForm({ name, next }: NameFormProps) {
  const words = useWords(welcomeWords);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    next(String(new FormData(event.currentTarget).get('name')).trim());
  };
  return (
    <form className={styles['form']} onSubmit={submit}>
      <TextField
        label={words.name}
        name="name"
        defaultValue={name}
        required
        pattern=".*\S.*"
        maxLength={200}
        autoComplete="off"
        // oxlint-disable-next-line jsx-a11y/no-autofocus -- Enter is the answer to each step
        autoFocus
        onFocus={({ target }) => target.select()}
      />
      <div>
        <Button type="submit" look="primary">
          {words.next}
        </Button>
      </div>
    </form>
  );
}

/** A second try after a refusal continues behind what exists. */
function useMaking(
  workspaceId: string,
  { name, connectivity }: Answers,
  onMade: (id: string) => void,
) {
  const { organizationId } = useAccount();
  const client = useQueryClient();
  const [made, setMade] = useState<readonly Made[]>([]);
  const mutation = useAction({
    mutationFn: async ({ decoding, payload }: Sending) => {
      const setup = { workspaceId, organizationId, name, connectivity, decoding };
      return { all: await makeFirst(setup, made, setMade), payload };
    },
    onSuccess({ all, payload }) {
      const device = all.find(({ what }) => what === 'device');
      if (device === undefined) return;
      rememberFirstDevice(workspaceId, device.id);
      keepSetup(device.id, { made: all, payload });
      for (const key of ['devices', 'flows', 'device-types', 'overview'])
        void client.invalidateQueries({ queryKey: [key] });
      onMade(device.id);
    },
  });
  return { ...mutation, hasBegun: made.length > 0 };
}
