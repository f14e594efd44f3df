// Range picker: the usual ranges, a custom one, and the way back from it or from a zoom.
import { ZoomOut } from 'lucide-react';
import { useState } from 'react';
import { useWords } from '../words/language.tsx';
import { instantOfLocal, localOf } from '../words/zone-times.ts';
import { IconButton } from './button.tsx';
import { Segments } from './choice.tsx';
import { TextField } from './field.tsx';
import { FormDialog } from './dialog.tsx';
import styles from './range-picker.module.css';
import { rangeWords } from './editing-words.ts';

/** ISO-8601 instants. */
interface CustomRange {
  readonly from: string;
  readonly to: string;
}

interface RangePickerProps<R extends string> {
  readonly names: readonly R[];
  /** The range that is shown, or was before the custom one. */
  readonly name: R;
  readonly isCustom: boolean;
  /** In which the fields of the custom range are. */
  readonly zone: string;
  /** The interval that is shown, which a custom range begins with. */
  readonly shown: () => CustomRange;
  readonly choose: (name: R) => void;
  readonly show: (custom: CustomRange) => void;
}

export function RangePicker<R extends string>(props: RangePickerProps<R>) {
  const { names, name, isCustom, zone, shown, choose, show } = props;
  const words = useWords(rangeWords);
  const [isAsked, setAsked] = useState(false);
  return (
    <>
      {/* Its room is kept, so that a zoom does not move the bar. */}
      <span className={styles['back']} data-shown={isCustom}>
        <IconButton
          label={words.zoomBack}
          icon={ZoomOut}
          disabled={!isCustom}
          onClick={() => choose(name)}
        />
      </span>
      <Segments<R | 'custom'>
        label={words.range}
        options={[
          ...names.map((value) => ({ value, label: value })),
          { value: 'custom', label: words.custom },
        ]}
        value={isCustom ? 'custom' : name}
        choose={(chosen) => (chosen === 'custom' ? setAsked(true) : choose(chosen))}
      />
      {isAsked && (
        <CustomDialog zone={zone} shown={shown} show={show} close={() => setAsked(false)} />
      )}
    </>
  );
}

interface CustomDialogProps extends Pick<RangePickerProps<string>, 'zone' | 'shown' | 'show'> {
  readonly close: () => void;
}

function CustomDialog({ zone, shown, show, close }: CustomDialogProps) {
  const words = useWords(rangeWords);
  const [first] = useState(shown);
  const [from, setFrom] = useState(localOf(first.from, zone));
  const [to, setTo] = useState(localOf(first.to, zone));
  return (
    <FormDialog
      title={words.custom}
      submitLabel={words.show}
      isIncomplete={from >= to}
      submit={() => {
        close();
        show({ from: instantOfLocal(from, zone), to: instantOfLocal(to, zone) });
      }}
      close={close}
    >
      <div className={styles['ends']}>
        <TextField
          label={words.from}
          type="datetime-local"
          required
          value={from}
          onChange={({ target }) => setFrom(target.value)}
        />
        <TextField
          label={words.to}
          type="datetime-local"
          required
          value={to}
          hint={zone}
          onChange={({ target }) => setTo(target.value)}
        />
      </div>
    </FormDialog>
  );
}

interface ZoneSelectProps<Z extends string> {
  /** For a screen reader. */
  readonly label: string;
  readonly title?: string;
  readonly value: Z;
  readonly options: readonly { readonly value: Z; readonly label: string }[];
  readonly choose: (value: Z) => void;
}

/** Whose clocks the times of a page are shown by. */
export function ZoneSelect<Z extends string>(props: ZoneSelectProps<Z>) {
  const { label, title, value, options, choose } = props;
  return (
    <label className={styles['zone']} title={title}>
      <span className="sr">{label}</span>
      <select value={value} onChange={({ target }) => choose(target.value as Z)}>
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    </label>
  );
}
