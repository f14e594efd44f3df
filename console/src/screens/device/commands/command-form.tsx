// Command form: content as JSON or hexadecimal, and where on the device it goes.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Send } from 'lucide-react';
import { type FormEvent, useMemo, useState } from 'react';
import { curlOf } from '../../../api/curl.ts';
import { ask, platform } from '../../../api/platform.ts';
import { Button } from '../../../parts/button.tsx';
import { Card } from '../../../parts/card.tsx';
import { Segments } from '../../../parts/choice.tsx';
import { CopyButton } from '../../../parts/copy-button.tsx';
import { CheckField } from '../../../parts/check-field.tsx';
import { SelectField, TextArea, TextField } from '../../../parts/field.tsx';
import { toast } from '../../../parts/toasts.tsx';
import { useWords } from '../../../words/language.tsx';
import type { Device } from '../data/device-queries.ts';
import { deviceWords } from '../device-words.ts';
import {
  type CommandDraft,
  type CommandExample,
  commandExamples,
  downlinkOf,
  emptyDraft,
  faultOf,
} from './command-draft.ts';
import styles from './commands.module.css';
import { commandsWords } from './commands-words.ts';
import { ActionFailure } from '../../../parts/action-failure.tsx';
import { useAction } from '../../../parts/use-action.ts';

interface CommandFormProps {
  readonly device: Device;
  readonly connectivity: 'MQTT' | 'LORA';
}

export function CommandForm({ device, connectivity }: CommandFormProps) {
  const words = useWords(commandsWords);
  const { copyCurl } = useWords(deviceWords);
  const type = useDeviceType(device);
  const examples = useMemo(() => commandExamples(type.data?.sampleData), [type.data]);
  const [edited, setDraft] = useState<CommandDraft>();
  const draft = edited ?? examples[0]?.draft ?? emptyDraft;
  const [isTried, setTried] = useState(false);
  const sending = useSending(device.id);
  const fault = faultOf(draft);
  const change = (part: Partial<CommandDraft>) => setDraft({ ...draft, ...part });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (fault === undefined) sending.mutate(downlinkOf(draft, connectivity));
  };
  const path = `/v3/devices/${device.id}/downlink`;
  const shownFault = isTried ? fault : undefined;
  return (
    <Card title={words.send} isPadded>
      <form className={styles['form']} onSubmit={submit} noValidate>
        {examples.length > 0 && (
          <ExampleChoice examples={examples} draft={draft} choose={setDraft} />
        )}
        <Content
          draft={draft}
          change={change}
          fault={shownFault}
          isLora={connectivity === 'LORA'}
          hasEncoder={hasEncoder(device, type.data)}
        />
        {connectivity === 'MQTT' ? (
          <TextField
            label={words.topic}
            hint={words.topicHint}
            value={draft.topic}
            onChange={({ target }) => change({ topic: target.value })}
          />
        ) : (
          <LoraFields draft={draft} change={change} isPortWrong={shownFault?.field === 'port'} />
        )}
        <ActionFailure error={sending.error} />
        <div className={styles['buttons']}>
          {fault === undefined && (
            <CopyButton
              content={curlOf(
                { method: 'POST', path, body: downlinkOf(draft, connectivity) },
                location.origin,
              )}
            >
              {copyCurl}
            </CopyButton>
          )}
          <Button needs="asset: update" look="primary" type="submit" disabled={sending.isPending}>
            <Send aria-hidden="true" />
            {words.sendNow}
          </Button>
        </div>
      </form>
    </Card>
  );
}

function useSending(deviceId: string) {
  const words = useWords(commandsWords);
  const queries = useQueryClient();
  return useAction({
    mutationFn: (body: ReturnType<typeof downlinkOf>) =>
      ask(platform.POST('/v3/devices/{id}/downlink', { params: { path: { id: deviceId } }, body })),
    onSuccess: () => {
      toast(words.queued);
      return queries.invalidateQueries({ queryKey: ['downlinks', deviceId] });
    },
  });
}

interface PartProps {
  readonly draft: CommandDraft;
  readonly change: (part: Partial<CommandDraft>) => void;
}

interface ContentProps extends PartProps {
  readonly fault: ReturnType<typeof faultOf>;
  readonly isLora: boolean;
  readonly hasEncoder: boolean | undefined;
}

function Content({ draft, change, fault, isLora, hasEncoder: encoder }: ContentProps) {
  const words = useWords(commandsWords);
  const jsonHint = encoder === false ? words.asItIs : words.throughEncoder;
  return (
    <>
      <Segments
        label={words.how}
        options={[
          { value: 'json', label: words.json },
          { value: 'hex', label: words.hex },
        ]}
        value={draft.form}
        choose={(form) => change({ form })}
      />
      {draft.form === 'json' ? (
        <TextArea
          label={words.jsonLabel}
          hint={encoder === false && isLora ? words.needsEncoder : jsonHint}
          error={fault?.field === 'json' ? words.badJson(fault.reason) : undefined}
          rows={6}
          spellCheck={false}
          value={draft.json}
          onChange={({ target }) => change({ json: target.value })}
        />
      ) : (
        <TextField
          label={words.hexLabel}
          hint={words.rawHint}
          error={fault?.field === 'hex' ? words.badHex : undefined}
          spellCheck={false}
          autoComplete="off"
          value={draft.hex}
          onChange={({ target }) => change({ hex: target.value })}
        />
      )}
    </>
  );
}

interface ExampleChoiceProps {
  readonly examples: readonly CommandExample[];
  readonly draft: CommandDraft;
  readonly choose: (draft: CommandDraft) => void;
}

/** The examples with which the encoder is tested; none is chosen after an edit. */
function ExampleChoice({ examples, draft, choose }: ExampleChoiceProps) {
  const words = useWords(commandsWords);
  const chosen = examples.find((one) => one.draft.json === draft.json && draft.form === 'json');
  return (
    <SelectField
      label={words.example}
      hint={words.exampleHint}
      value={chosen?.name ?? ''}
      onChange={({ currentTarget: { value } }) => {
        const example = examples.find(({ name }) => name === value);
        if (example !== undefined) choose(example.draft);
      }}
    >
      {chosen === undefined && <option value="">{words.ownContent}</option>}
      {examples.map(({ name }) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </SelectField>
  );
}

function useDeviceType({ dataFlow: { deviceType } }: Device) {
  const id = deviceType?.id ?? '';
  return useQuery({
    queryKey: ['device-type', id],
    enabled: id !== '',
    queryFn: ({ signal }) =>
      ask(platform.GET('/v3/device-types/{id}', { signal, params: { path: { id } } })),
  });
}

type DeviceType = NonNullable<ReturnType<typeof useDeviceType>['data']>;

/** Undefined while or when the type cannot be read. */
function hasEncoder(device: Device, type: DeviceType | undefined): boolean | undefined {
  if (device.dataFlow.deviceType === null) return false;
  return type && type.downlinkScript !== null;
}

function LoraFields({ draft, change, isPortWrong }: PartProps & { readonly isPortWrong: boolean }) {
  const words = useWords(commandsWords);
  return (
    <>
      <TextField
        label={words.port}
        hint={words.portHint}
        error={isPortWrong ? words.portHint : undefined}
        inputMode="numeric"
        value={draft.port}
        onChange={({ target }) => change({ port: target.value })}
      />
      <CheckField
        label={words.confirmed}
        isOn={draft.isConfirmed}
        change={(isConfirmed) => change({ isConfirmed })}
      />
      <CheckField
        label={words.clearQueue}
        isOn={draft.isReplacing}
        change={(isReplacing) => change({ isReplacing })}
      />
    </>
  );
}
