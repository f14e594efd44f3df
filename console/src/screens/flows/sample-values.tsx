// Sample values: the first few values of a sample, each with its key.
import { useFormats } from '../../words/language.tsx';
import styles from './flows.module.css';

const valuesMax = 4;

export function SampleValues({ data }: { readonly data: Readonly<Record<string, unknown>> }) {
  const formats = useFormats();
  const values = Object.entries(data).filter(([, value]) => typeof value !== 'object');
  return (
    <span className={styles['values']}>
      {values.slice(0, valuesMax).map(([key, value]) => (
        <span key={key}>
          <span className="faint">{key}</span>{' '}
          <b className="num">{typeof value === 'number' ? formats.value(value) : String(value)}</b>
        </span>
      ))}
    </span>
  );
}
