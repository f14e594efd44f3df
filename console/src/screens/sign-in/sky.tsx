// Sky: the sun of the sign-in page, drawn from 64 rays.
import styles from './sign-in.module.css';

const center = { x: 460, y: 330 };
const rayCount = 64;

export function Sky({ motto }: { readonly motto: string }) {
  const circle = { cx: center.x, cy: center.y };
  return (
    <div className={styles['sky']} aria-hidden="true">
      <svg viewBox="0 0 920 900" preserveAspectRatio="xMidYMid slice">
        <circle {...circle} r="118" fill="#f5b83d" />
        <path d={rays} stroke="#f5b83d" strokeWidth="2" strokeLinecap="round" opacity=".55" />
        <circle {...circle} r="520" fill="none" stroke="#f5b83d" opacity=".12" />
        <circle {...circle} r="640" fill="none" stroke="#f5b83d" opacity=".07" />
      </svg>
      <p>{motto}</p>
    </div>
  );
}

const rays = Array.from({ length: rayCount }, (_, at) => {
  const angle = (at / rayCount) * Math.PI * 2;
  const from = 150 + (at % 2) * 10;
  // A fixed pattern of lengths that looks like chance.
  const to = 190 + ((at * 37) % 11) * 26;
  return `M${pointAt(angle, from)}L${pointAt(angle, to)}`;
}).join('');

function pointAt(angle: number, radius: number): string {
  const x = center.x + Math.cos(angle) * radius;
  const y = center.y + Math.sin(angle) * radius;
  return `${Math.round(x * 10) / 10} ${Math.round(y * 10) / 10}`;
}
