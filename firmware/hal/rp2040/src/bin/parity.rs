//! Prints fixed runs as bits over the serial port, to compare with the same runs on a PC.
#![no_std]
#![no_main]

use core::fmt::Write as _;

use defmt::unwrap;
use rp2040_hal::clocks::{Clock as _, init_clocks_and_plls};
use rp2040_hal::fugit::RateExtU32 as _;
use rp2040_hal::uart::{DataBits, StopBits, UartConfig, UartPeripheral};
use rp2040_hal::{Sio, Watchdog, entry, gpio, pac};
use static_cell::ConstStaticCell;
use {defmt_rtt as _, panic_probe as _};

#[path = "../../../../src/demo/parity.rs"]
mod parity;
#[path = "../../../../src/demo/relays.rs"]
#[allow(dead_code, reason = "parity uses its knobs and costs only")]
mod relays;

#[unsafe(link_section = ".boot2")]
#[used]
static BOOT2: [u8; 256] = rp2040_boot2::BOOT_LOADER_W25Q080;

static TUNERS: ConstStaticCell<parity::Tuners> = ConstStaticCell::new(parity::Tuners::new());

#[entry]
fn main() -> ! {
    let mut p = unwrap!(pac::Peripherals::take());
    let mut watchdog = Watchdog::new(p.WATCHDOG);
    let (xosc, clocks, sys, usb) = (p.XOSC, p.CLOCKS, p.PLL_SYS, p.PLL_USB);
    let clocks = init_clocks_and_plls(12_000_000, xosc, clocks, sys, usb, &mut p.RESETS, &mut watchdog);
    let clocks = unwrap!(clocks.ok());
    let pins = gpio::Pins::new(p.IO_BANK0, p.PADS_BANK0, Sio::new(p.SIO).gpio_bank0, &mut p.RESETS);
    let pins = (pins.gpio0.into_function(), pins.gpio1.into_function());
    let uart = UartPeripheral::new(p.UART0, pins, &mut p.RESETS);
    let config = UartConfig::new(115_200.Hz(), DataBits::Eight, None, StopBits::One);
    let mut uart = unwrap!(uart.enable(config, clocks.peripheral_clock.freq()).ok());
    let done = parity::run(TUNERS.take(), &mut |line| unwrap!(writeln!(uart, "{line}").ok()));
    unwrap!(done.ok());
    loop {
        cortex_m::asm::wfi();
    }
}
