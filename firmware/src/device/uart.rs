//! Sends bytes with USART1 of an STM32F4: 115 200 baud, 8 bits, no parity, on pin PA9.
//!
//! | register | address | purpose |
//! |---|---|---|
//! | RCC_AHB1ENR | 0x4002_3830 | bit 0 clocks port A |
//! | RCC_APB2ENR | 0x4002_3844 | bit 4 clocks the USART |
//! | GPIOA_MODER | 0x4002_0000 | bits 19:18 give pin 9 to a peripheral: 10 |
//! | GPIOA_AFRH | 0x4002_0024 | bits 7:4 select it: 7 is USART1 |
//! | USART1_SR | 0x4001_1000 | bit 7: ready for the next byte; bit 6: all bytes are out |
//! | USART1_DR | 0x4001_1004 | the next byte |
//! | USART1_BRR | 0x4001_1008 | the clock divided by the rate |
//! | USART1_CR1 | 0x4001_100C | bit 13 turns it on, bit 3 enables sending |
//!
//! (STM32F405 reference manual RM0090, sections 7.3, 8.4 and 30.6; the same on the STM32F411 and
//! F446.)
//!
//! **Choices**
//! - Eight registers do not need a peripheral-access crate. The addresses are here and nowhere
//!   else.
//! - The clock is the internal oscillator that the chip starts with, 16 MHz: 16 000 000 / 115 200 =
//!   138.9, so 139, which is 0.08 % slow. With another clock, pass another divider.
//! - The chip waits for each byte: a frame of 34 bytes takes 3 ms, far less than a relay. QEMU
//!   takes a byte at once.
//! - On boards of other families nothing is sent: there give the reporter a port of the board's
//!   HAL.
//! - Run in QEMU only, not on silicon.

use core::convert::Infallible;

use embedded_io::{ErrorType, Write};

/// A serial port that sends.
pub struct Uart(());

impl Uart {
    /// 16 MHz / 115 200 baud.
    pub const DIVIDER: u32 = 139;

    /// Starts the port at the clock divided by this.
    pub fn start(divider: u32) -> Self {
        usart1::start(divider);
        Self(())
    }
}

impl ErrorType for Uart {
    type Error = Infallible;
}

impl Write for Uart {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Infallible> {
        bytes.iter().for_each(|byte| usart1::send(*byte));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<(), Infallible> {
        usart1::flush();
        Ok(())
    }
}

#[cfg(any(feature = "stm32f405", feature = "stm32f411", feature = "stm32f446"))]
mod usart1 {
    use core::hint::spin_loop;
    use core::ptr;

    const RCC_AHB1ENR: *mut u32 = ptr::without_provenance_mut(0x4002_3830);
    const RCC_APB2ENR: *mut u32 = ptr::without_provenance_mut(0x4002_3844);
    const GPIOA_MODER: *mut u32 = ptr::without_provenance_mut(0x4002_0000);
    const GPIOA_AFRH: *mut u32 = ptr::without_provenance_mut(0x4002_0024);
    const USART1_SR: *mut u32 = ptr::without_provenance_mut(0x4001_1000);
    const USART1_DR: *mut u32 = ptr::without_provenance_mut(0x4001_1004);
    const USART1_BRR: *mut u32 = ptr::without_provenance_mut(0x4001_1008);
    const USART1_CR1: *mut u32 = ptr::without_provenance_mut(0x4001_100C);

    /// There is room for the next byte.
    const TXE: u32 = 1 << 7;
    /// All bytes are out.
    const TC: u32 = 1 << 6;

    pub(super) fn start(divider: u32) {
        // SAFETY: the addresses are those of the table above, aligned and present on this chip, and
        // this is the only code that names them; the image has one thread.
        unsafe {
            RCC_AHB1ENR.write_volatile(RCC_AHB1ENR.read_volatile() | 1);
            RCC_APB2ENR.write_volatile(RCC_APB2ENR.read_volatile() | 1 << 4);
            GPIOA_MODER.write_volatile(GPIOA_MODER.read_volatile() & !(0b11 << 18) | 0b10 << 18);
            GPIOA_AFRH.write_volatile(GPIOA_AFRH.read_volatile() & !(0xF << 4) | 7 << 4);
            USART1_BRR.write_volatile(divider);
            USART1_CR1.write_volatile(1 << 13 | 1 << 3);
        }
    }

    pub(super) fn send(byte: u8) {
        wait_for(TXE);
        // SAFETY: as in `start`.
        unsafe { USART1_DR.write_volatile(u32::from(byte)) };
    }

    pub(super) fn flush() {
        wait_for(TC);
    }

    /// Waits for a bit of the status.
    fn wait_for(flag: u32) {
        // SAFETY: as in `start`.
        while unsafe { USART1_SR.read_volatile() } & flag == 0 {
            spin_loop();
        }
    }
}

/// Other boards send nothing.
#[cfg(not(any(feature = "stm32f405", feature = "stm32f411", feature = "stm32f446")))]
mod usart1 {
    pub(super) fn start(_divider: u32) {}

    pub(super) fn send(_byte: u8) {}

    pub(super) fn flush() {}
}
